"""Groups that go over from one protocol to the other."""

from __future__ import annotations

import pytest

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import Member, Profile
from andiron.groups.consumer.migration import (
    assignment_bytes,
    check_upgrade,
    downgraded,
    may_downgrade,
    owned_partitions,
    subscription_version,
    upgraded,
)
from andiron.groups.records import ClassicMemberMetadata, ClassicProtocol
from andiron.groups.settings import GroupSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import Promise
from andiron.model.timers import Timers
from andiron.wire.consumer_protocol import (
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    versioned_bytes,
)
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions
from groups.consumers import GROUP, Catalogue, Consumer, Coordinator, OldConsumer, settle

TOPICS = Catalogue(t=4, u=2)
T = TOPICS.id("t")
READS_T = versioned_bytes(Subscription(["t"], None, [], -1, "rack"), 3)


def classic_group(
    assignment: bytes, protocol_type: str = "consumer", subscription: bytes = READS_T
) -> ClassicGroup:
    group = ClassicGroup("g", Timers(), None)
    member = ClassicMember("m", None, "client", "/host", 60_000, 10_000, {"range": subscription}, assignment)
    group.add(member, protocol_type)
    group.generation, group.protocol, group.state = 7, "range", "Stable"
    return group


def assigned(**shares: list[int]) -> bytes:
    return versioned_bytes(Assignment([AssignedTopic(*each) for each in shares.items()]), 1)


# ── to the new protocol ──────────────────────────────────────────────────────────────


def test_a_classic_member_keeps_its_assignment_and_its_generation_as_epoch():
    group, records = upgraded(classic_group(assigned(t=[0, 1], gone=[0])), TOPICS)

    assert (group.epoch, group.assignment_epoch) == (7, 7)
    member = group.members["m"]
    assert member.assigned == {T: {0: 7, 1: 7}}
    assert member.is_reconciled_to(7)
    assert group.targets == {"m": {T: (0, 1)}}
    assert (member.profile.topics, member.profile.rack_id) == (("t",), "rack")
    assert member.profile.classic == ClassicMemberMetadata(10_000, [ClassicProtocol("range", READS_T)])
    kinds = [type(record.key).__name__.removesuffix("Key") for record in records]
    assert kinds == [
        "GroupMetadata", "ConsumerGroupMemberMetadata", "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember", "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupCurrentMemberAssignment",
    ]  # fmt: skip
    assert records[0].value is None


def test_in_the_middle_of_a_rebalance_a_member_holds_what_it_says_it_owns():
    owns = versioned_bytes(
        Subscription(["t"], None, [AssignedTopic("t", [0, 1]), AssignedTopic("t", [1, 2])]), 1
    )
    classic = classic_group(b"", subscription=owns)
    other = ClassicMember("o", None, "client", "/host", 60_000, 10_000, {"range": READS_T}, assigned(t=[1]))
    classic.add(other, "consumer")

    group, _ = upgraded(classic, TOPICS)

    assert group.owners == {T: {0: "m", 1: "o", 2: "m"}}


@pytest.mark.parametrize(
    "group",
    [
        classic_group(b"\0"),
        classic_group(versioned_bytes(Assignment([], b"of an assignor of its own"), 1)),
        classic_group(b"", subscription=b"\0\1garbage"),
    ],
)
def test_a_group_whose_members_cannot_be_understood_stays_as_it_is(group):
    with pytest.raises(ProtocolError) as refused:
        upgraded(group, TOPICS)

    assert refused.value.code is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize(
    ("protocol_type", "settings"),
    [
        ("connect", {}),
        ("consumer", {"group_consumer_migration_policy": "downgrade"}),
        ("consumer", {"group_consumer_migration_policy": "disabled"}),
        ("consumer", {"group_consumer_max_size": 0}),
    ],
)
def test_not_every_group_may_be_upgraded(protocol_type, settings):
    group = classic_group(b"", protocol_type)

    with pytest.raises(ProtocolError) as refused:
        check_upgrade(group, GroupSettings(**settings))

    assert refused.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_the_policy_may_be_written_in_any_case():
    check_upgrade(classic_group(b""), GroupSettings(group_consumer_migration_policy="Bidirectional"))


def test_the_first_one_that_speaks_the_new_protocol_takes_the_group_over():
    coordinator = Coordinator()
    old, new = OldConsumer(coordinator, "t"), Consumer(coordinator, "n", "t")
    old.join()
    old.sync(t=[0, 1, 2, 3])

    new.beat()

    assert isinstance(coordinator.groups[GROUP], ConsumerGroup)
    assert coordinator.kinds[0] == "-GroupMetadata"
    old.rejoin()
    settle(new)
    assert sorted([*new.partitions(), *old.owned["t"]]) == [0, 1, 2, 3]
    coordinator.reload()
    new.beat()
    assert old.beat() is ErrorCode.NONE


def test_whoever_waits_in_the_classic_group_is_told_to_join_again():
    coordinator = Coordinator()
    first, second = OldConsumer(coordinator, "t"), OldConsumer(coordinator, "t")
    first.join()
    first.sync(t=[0, 1, 2, 3])
    second.id = coordinator.ask(second.request(), 9).member_id
    waiting = coordinator.ask(second.request(), 9)
    assert isinstance(waiting, Promise) and not waiting.kept

    Consumer(coordinator, "n", "t").beat()

    assert coordinator.kept == [waiting]
    assert waiting.response.error_code == ErrorCode.REBALANCE_IN_PROGRESS.number
    assert set(coordinator.group.members) == {first.id, second.id, "n"}


def test_members_that_came_over_are_gone_if_they_are_not_heard_from():
    coordinator = Coordinator()
    old, new = OldConsumer(coordinator, "t"), Consumer(coordinator, "n", "t")
    old.join()
    old.sync(t=[0, 1, 2, 3])
    new.beat()

    coordinator.pass_time(10_000)
    settle(new)

    assert new.partitions() == [0, 1, 2, 3]


def test_a_group_stays_classic_if_the_newcomer_is_refused():
    coordinator = Coordinator(group_consumer_max_size=1)
    old, new = OldConsumer(coordinator, "t"), Consumer(coordinator, "n", "t")
    old.join()
    old.sync(t=[0, 1, 2, 3])

    assert coordinator.refusal(new.request()) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert isinstance(coordinator.groups[GROUP], ClassicGroup)
    assert old.beat() is ErrorCode.NONE


def test_an_empty_classic_group_goes_over_whatever_the_policy():
    coordinator = Coordinator(group_consumer_migration_policy="disabled")
    old, new = OldConsumer(coordinator, "t"), Consumer(coordinator, "n", "t")
    old.join()
    old.sync(t=[0])
    assert coordinator.refusal(new.request()) is ErrorCode.GROUP_ID_NOT_FOUND
    old.leave()

    new.beat()

    assert coordinator.kinds[0] == "-GroupMetadata"
    assert new.partitions() == [0, 1, 2, 3]


# ── to the classic one ───────────────────────────────────────────────────────────────


def classic_member(id: str, *protocols: str) -> Member:
    supported = [ClassicProtocol(name, READS_T) for name in protocols]
    return Member(id, Profile(rebalance_timeout_ms=60_000, classic=ClassicMemberMetadata(10_000, supported)))


def test_a_group_is_classic_when_all_speak_the_classic_protocol_and_have_one_in_common():
    settings = GroupSettings(group_max_size=2)
    a, b, c = (
        classic_member("a", "range"),
        classic_member("b", "robin", "range"),
        classic_member("c", "robin"),
    )

    assert may_downgrade([a], settings)
    assert may_downgrade([a, b], settings)
    assert not may_downgrade([], settings)
    assert not may_downgrade([a, c], settings)
    assert not may_downgrade([a, Member("n")], settings)
    assert not may_downgrade([a, b, classic_member("d", "range")], settings)
    assert not may_downgrade([a], GroupSettings(group_consumer_migration_policy="upgrade"))


def test_the_target_becomes_the_assignment_and_the_epoch_the_generation():
    group = ConsumerGroup("g")
    group.epoch = 9
    group.targets = {"former": {T: (1, 2)}}

    classic = downgraded(group, {"former": classic_member("a", "robin", "range")}, TOPICS, Timers())

    assert (classic.generation, classic.leader, classic.protocol_type) == (9, "a", "consumer")
    member = classic.members["a"]
    assert list(member.protocols) == ["robin", "range"]
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (60_000, 10_000)
    assert member.assignment[:2] == b"\0\3"
    assert read_assignment(member.assignment) == Assignment([AssignedTopic("t", [1, 2])])


# ── what members tell each other ─────────────────────────────────────────────────────


def test_a_member_is_spoken_to_in_the_version_in_which_it_speaks():
    assert subscription_version(READS_T) == 3
    assert subscription_version(b"\0\0") == 0
    assert subscription_version(b"\0\x63") == 3
    assert subscription_version(b"") == 0
    assert assignment_bytes({T: [0]}, TOPICS, 1)[:2] == b"\0\1"


def test_topics_that_are_gone_are_not_spoken_of():
    assert read_assignment(assignment_bytes({b"x" * 16: [0]}, TOPICS, 1)) == Assignment([])
    said = Subscription(["t"], None, [AssignedTopic("t", [1]), AssignedTopic("gone", [0])])
    assert owned_partitions(said, TOPICS) == [TopicPartitions(T, [1])]
