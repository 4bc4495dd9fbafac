"""A group goes over to the new protocol and back while it works, one member after the other.

The first member of the new protocol turns the group around; members of both kinds then share it, the classic
ones told by their heartbeats to join again. When the last member of the new protocol has gone and all that are
left are classic, the group is classic again. Records flow, and each is processed once.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import groups
from peers.members import laws
from peers.members.group import Group
from peers.members.kinds import COOPERATIVE, RANGE, UNIFORM, Kind
from peers.process import Server
from peers.waiting import eventually

GROUP_ID_NOT_FOUND = 69
FATAL = -150  # librdkafka's own number for what it cannot recover from
JAVA = (Kind("java", COOPERATIVE), Kind("java", UNIFORM, "consumer"))
CONFLUENT = (Kind("confluent", RANGE), Kind("confluent", UNIFORM, "consumer"))
EAGER = (Kind("java", RANGE), Kind("java", UNIFORM, "consumer"))
MIXED = (Kind("confluent", RANGE), Kind("java", UNIFORM, "consumer"))


def type_of(node: Server, group: Group) -> str:
    return groups.connect("confluent", node.bootstrap).list_groups()[group.name].type


@pytest.mark.parametrize(("old", "new"), [JAVA, CONFLUENT, EAGER, MIXED], ids=str)
def test_a_group_is_moved_to_the_new_protocol_and_back_while_it_works(
    node: Server, make_group: Callable[..., Group], old: Kind, new: Kind
) -> None:
    group = make_group(6)
    with group.flowing():
        members = [group.join(old), group.join(old)]
        group.settled()
        assert type_of(node, group) == "Classic"
        for kind in (new, old):
            for member in members:
                group.join(kind)
                group.settled()
                member.leave()
                group.settled()
            members = list(group.living)
            assert type_of(node, group) == ("Consumer" if kind is new else "Classic")
    group.drained()
    laws.exactly_once(group)
    laws.in_order(group)
    laws.one_owner(group)
    if old.incremental:
        laws.nothing_moved_in_vain(group)


@pytest.mark.parametrize("old", [Kind("kafka_python", RANGE), Kind("aiokafka", RANGE)], ids=str)
def test_members_that_know_only_the_classic_protocol_work_beside_new_ones(
    node: Server, make_group: Callable[..., Group], old: Kind
) -> None:
    group = make_group(6)
    with group.flowing():
        group.join(old)
        group.settled()
        second = group.join(Kind("java", UNIFORM, "consumer"))
        group.settled(3, 3)
        assert type_of(node, group) == "Consumer"
        second.leave()
        group.settled()
    group.drained()
    laws.exactly_once(group)
    laws.one_owner(group)


@pytest.mark.parametrize("new", [JAVA[1], CONFLUENT[1]], ids=str)
def test_a_group_whose_assignor_keeps_notes_cannot_be_moved(
    node: Server, make_group: Callable[..., Group], new: Kind
) -> None:
    """librdkafka's sticky assignor puts data of its own into the subscription, which the broker cannot keep."""
    group = make_group(2)
    for _ in range(2):
        group.join(Kind("confluent", COOPERATIVE))
        group.settled()

    refused = group.join(new)

    eventually(lambda: bool(refused.errors))
    assert refused.errors[0] in (GROUP_ID_NOT_FOUND, FATAL)
    assert type_of(node, group) == "Classic"
    group.write(3)
    group.drained()


def test_an_empty_group_takes_the_protocol_of_whoever_comes_next(
    node: Server, make_group: Callable[..., Group]
) -> None:
    group = make_group(2)
    for kind, name in [(CONFLUENT[0], "Classic"), (CONFLUENT[1], "Consumer"), (CONFLUENT[0], "Classic")]:
        group.write(5)
        member = group.join(kind)
        group.drained()
        assert type_of(node, group) == name
        member.leave()
    laws.exactly_once(group)
