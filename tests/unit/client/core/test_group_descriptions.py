"""Groups as they are told, by either protocol."""

from __future__ import annotations

import pytest

from andiron.client.core.addresses import Address
from andiron.client.core.group_descriptions import GroupDescription, GroupListing, GroupMember
from andiron.client.core.metadata import Broker
from andiron.model.ids import TopicPartition
from andiron.wire.consumer_protocol import AssignedTopic, Assignment, Subscription, versioned_bytes
from andiron.wire.messages import consumer_group_describe as consumer
from andiron.wire.messages import describe_groups as classic
from andiron.wire.messages.list_groups import ListedGroup

BROKER = Broker(1, Address("h", 9092))
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
SUBSCRIBED = versioned_bytes(Subscription(["t"], rack_id="r"))
ASSIGNED = versioned_bytes(Assignment([AssignedTopic("t", [1, 0])]))


def classic_member(name: str, assignment: bytes = ASSIGNED) -> classic.DescribedGroupMember:
    return classic.DescribedGroupMember(name, None, "client", "/host", SUBSCRIBED, assignment)


def classic_group(*members: classic.DescribedGroupMember, kind: str = "consumer") -> GroupDescription:
    told = classic.DescribedGroup(0, None, "g", "Stable", kind, "range", list(members))
    return GroupDescription.of_classic(told, BROKER)


def test_a_listed_group_has_its_type_in_small_letters() -> None:
    told = ListedGroup("g", "consumer", "Stable", "Classic")

    assert GroupListing.of(told, 1) == GroupListing("g", "classic", "consumer", "Stable", 1)


def test_a_classic_members_bytes_are_read() -> None:
    (member,) = classic_group(classic_member("m")).members

    assert member == GroupMember("m", None, "client", "/host", "r", ["t"], [P0, P1])


@pytest.mark.parametrize(("kind", "assignment"), [("connect", ASSIGNED), ("consumer", b"\0\0\0\0\0\x07")])
def test_bytes_that_mean_something_else_are_left_alone(kind: str, assignment: bytes) -> None:
    (member,) = classic_group(classic_member("m", assignment), kind=kind).members

    assert member.partitions is None


def test_a_subscription_that_cannot_be_read_is_none() -> None:
    told = classic.DescribedGroupMember("m", None, "client", "/host", b"?", ASSIGNED)

    assert classic_group(told).members[0].topics == []


def test_members_come_by_id_and_own_what_they_have() -> None:
    second = versioned_bytes(Assignment([AssignedTopic("t", [1])]))
    first = versioned_bytes(Assignment([AssignedTopic("t", [0])]))
    group = classic_group(
        classic_member("m2", second), classic_member("m1", first), classic_member("m3", b"")
    )

    assert [each.id for each in group.members] == ["m1", "m2", "m3"]
    assert {partition: member.id for partition, member in group.owners().items()} == {P0: "m1", P1: "m2"}


def test_a_group_of_the_new_protocol_tells_epochs_and_where_it_is_heading() -> None:
    has = consumer.Assignment([consumer.TopicPartitions(b"i" * 16, "t", [0])])
    will_have = consumer.Assignment([consumer.TopicPartitions(b"i" * 16, "t", [1, 0])])
    member = consumer.Member("m", "i", None, 4, "client", "/host", ["t"], "x.*", has, will_have)
    told = consumer.DescribedGroup(0, None, "g", "Reconciling", 5, 4, "uniform", [member])
    group = GroupDescription.of_consumer(told, BROKER)

    assert (group.type, group.state, group.assignor) == ("consumer", "Reconciling", "uniform")
    assert (group.epoch, group.assignment_epoch) == (5, 4)
    assert group.members == [
        GroupMember("m", "i", "client", "/host", None, ["t", "/x.*/"], [P0], [P0, P1], 4)
    ]


@pytest.mark.parametrize(
    ("state", "active"), [("Empty", False), ("Dead", False), ("Stable", True), ("PreparingRebalance", True)]
)
def test_a_group_is_active_by_its_state(state: str, active: bool) -> None:
    told = classic.DescribedGroup(0, None, "g", state, "consumer", "", [])

    assert GroupDescription.of_classic(told, BROKER).is_active is active
