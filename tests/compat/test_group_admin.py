"""Groups as administrators see them: listed by state and type, described, deleted, and their offsets too.

States that pass in a moment are held still by hand: a member that joins and does not sync, a member that is
asked to join again and does not.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import groups
from peers.asking import Asker
from peers.clients import Refused
from peers.groups import Committed, Listed
from peers.groups.base import Described
from peers.groups.java import JavaGroups
from peers.members.group import Group
from peers.members.kinds import COOPERATIVE, RANGE, UNIFORM, Kind
from peers.process import Server
from peers.waiting import eventually

UNKNOWN_MEMBER_ID = 25
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69
GROUP_SUBSCRIBED_TO_TOPIC = 86
CLASSIC, NEW = Kind("confluent", RANGE), Kind("confluent", UNIFORM, "consumer")
both_protocols = pytest.mark.parametrize("kind", [CLASSIC, NEW], ids=str)


def refusal(act: Callable[[], object]) -> int:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


@pytest.fixture
def settled(make_group: Callable[..., Group]) -> Callable[[Kind], Group]:
    """A group of two over four partitions, at rest."""

    def settle(kind: Kind) -> Group:
        group = make_group(4)
        group.join(kind)
        group.join(kind)
        group.settled(2, 2)
        return group

    return settle


@groups.each_client("list_groups")
def test_groups_are_listed_by_state_and_type(
    node: Server, settled: Callable[[Kind], Group], make_topic: Callable[..., str], name: str, client: str
) -> None:
    admin = groups.connect(client, node.bootstrap)
    old, new, empty = settled(CLASSIC).name, settled(NEW).name, f"{name}-empty"
    admin.commit(empty, {(make_topic(), 0): Committed(1)})
    mine = {
        old: Listed("Stable", "Classic"),
        new: Listed("Stable", "Consumer"),
        empty: Listed("Empty", "Classic"),
    }

    def listed(**filters: list[str]) -> dict[str, Listed]:
        return {group: found for group, found in admin.list_groups(**filters).items() if group in mine}

    assert listed() == mine
    assert set(listed(states=["Stable"])) == {old, new}
    assert set(listed(states=["Empty"])) == {empty}
    assert set(listed(states=["Empty", "Stable"])) == set(mine)
    assert set(listed(types=["Classic"])) == {old, empty}
    assert set(listed(types=["Consumer"])) == {new}
    assert set(listed(states=["Stable"], types=["Classic"])) == {old}


@pytest.mark.parametrize("kind", [CLASSIC, Kind("java", COOPERATIVE), Kind("aiokafka", RANGE)], ids=str)
@groups.each_client("describe_group")
def test_a_classic_group_is_described_with_the_partitions_of_each_member(
    node: Server, settled: Callable[[Kind], Group], kind: Kind, client: str
) -> None:
    group = settled(kind)
    owned = {frozenset(member.owned) for member in group.living}
    admin = groups.connect(client, node.bootstrap)

    # Whoever hears last of its assignment has heard it by now; the coordinator knew it before.
    found = admin.describe_group(group.name)

    assert (found.state, found.assignor, set(found.members)) == ("Stable", kind.assignor, owned)
    for member in group.living:
        member.leave()
    assert admin.describe_group(group.name) == Described("Empty", "", ())


@pytest.mark.parametrize("client", ["confluent", "java"])
def test_a_group_of_the_new_protocol_is_described_with_the_partitions_of_each_member(
    node: Server, settled: Callable[[Kind], Group], client: str
) -> None:
    group = settled(NEW)
    owned = {frozenset(member.owned) for member in group.living}
    admin = groups.connect(client, node.bootstrap)

    eventually(lambda: admin.describe_group(group.name).state == "Stable")
    found = admin.describe_group(group.name)

    assert (found.assignor, set(found.members)) == ("uniform", owned)


@groups.each_client("describe_group")
def test_a_group_that_is_not_there_is_dead_or_not_found(node: Server, name: str, client: str) -> None:
    """From version 6 of DescribeGroups on it is an error; before, and so for librdkafka, a state."""
    admin = groups.connect(client, node.bootstrap)
    if client == "confluent":
        assert admin.describe_group(name).state == "Dead"
    else:
        assert refusal(lambda: admin.describe_group(name)) == GROUP_ID_NOT_FOUND


def test_the_states_between_two_assignments(node: Server, asker: Asker, name: str) -> None:
    admin = groups.connect("java", node.bootstrap)
    joining = {"group_id": name, "member_id": "", "session_timeout": 10_000, "rebalance_timeout": 10_000}
    joining |= {
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0\0\0\0\0\0\0\0\0\0"}],
    }

    me = asker.ask("join_group", 3, **joining)
    assert admin.list_groups(["CompletingRebalance"])[name] == Listed("CompletingRebalance", "Classic")
    assert admin.describe_group(name).state == "CompletingRebalance"

    asker.ask("sync_group", 3, group_id=name, generation_id=1, member_id=me.member_id, assignments=[])
    with Asker(node.port) as other:
        other.send("join_group", 3, **joining)
        eventually(lambda: admin.describe_group(name).state == "PreparingRebalance")
        assert admin.list_groups(["PreparingRebalance"])[name] == Listed("PreparingRebalance", "Classic")


@groups.each_client("delete_group")
@both_protocols
def test_a_group_can_be_deleted_when_it_is_empty(
    node: Server, settled: Callable[[Kind], Group], client: str, kind: Kind
) -> None:
    group = settled(kind)
    admin = groups.connect(client, node.bootstrap)

    assert refusal(lambda: admin.delete_group(group.name)) == NON_EMPTY_GROUP

    for member in group.living:
        member.leave()
    admin.delete_group(group.name)
    assert group.name not in admin.list_groups()
    assert refusal(lambda: admin.delete_group(group.name)) == GROUP_ID_NOT_FOUND


@groups.each_client("delete_group")
def test_a_deleted_group_has_no_offsets(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    admin = groups.connect(client, node.bootstrap)
    place = (make_topic(), 0)
    admin.commit(name, {place: Committed(3)})

    admin.delete_group(name)

    assert admin.committed(name, [place]) == {}


@groups.each_client("delete_offsets")
def test_offsets_can_be_deleted_one_by_one(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    admin = groups.connect(client, node.bootstrap)
    topic = make_topic(3)
    admin.commit(name, {(topic, number): Committed(number) for number in range(3)})

    admin.delete_offsets(name, [(topic, 0), (topic, 2)])

    assert admin.list_offsets(name) == {(topic, 1): Committed(1)}


@groups.each_client("delete_offsets")
@both_protocols
def test_offsets_that_the_group_still_needs_cannot_be_deleted(
    node: Server, settled: Callable[[Kind], Group], make_topic: Callable[..., str], client: str, kind: Kind
) -> None:
    group = settled(kind)
    group.write()
    group.drained()
    admin = groups.connect(client, node.bootstrap)
    eventually(lambda: len(admin.list_offsets(group.name)) == 4)

    assert (
        refusal(lambda: admin.delete_offsets(group.name, group.partitions[:1])) == GROUP_SUBSCRIBED_TO_TOPIC
    )


@groups.each_client("delete_offsets")
def test_offsets_of_a_group_that_is_not_there_cannot_be_deleted(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    admin = groups.connect(client, node.bootstrap)
    place = (make_topic(), 0)

    assert refusal(lambda: admin.delete_offsets(name, [place])) == GROUP_ID_NOT_FOUND


@groups.each_client("alter_offsets")
def test_offsets_of_a_group_with_members_cannot_be_moved_from_outside(
    node: Server, settled: Callable[[Kind], Group], client: str
) -> None:
    group = settled(CLASSIC)
    admin = groups.connect(client, node.bootstrap)

    moved = {group.partitions[0]: Committed(0)}

    assert refusal(lambda: admin.alter_offsets(group.name, moved)) == UNKNOWN_MEMBER_ID


def test_a_static_member_can_be_thrown_out_by_name(node: Server, make_group: Callable[..., Group]) -> None:
    group = make_group(4)
    group.join(Kind("java", RANGE))
    away = group.join(Kind("kafka_python", RANGE), instance="away")
    group.settled()
    away.leave()  # a static member stays a member when it goes

    JavaGroups(node.bootstrap).remove_members(group.name, ["away"])

    group.settled()
