"""Static members: who has a name (`group.instance.id`) keeps its partitions while it is away.

A restart within the session gives the same partitions back, and nobody else notices. There is one member of a
name at a time: in the classic protocol the newer takes over and the older is fenced, in the new one a name must
be given up, by leaving or by the end of the session, before another may take it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.hosting import Member
from peers.members.kinds import COOPERATIVE, RANGE, UNIFORM, Kind
from peers.waiting import eventually

FENCED_INSTANCE_ID = 82
UNRELEASED_INSTANCE_ID = 111
FATAL = -150  # librdkafka's own number for what it cannot recover from
CLASSIC = [
    Kind("confluent", RANGE),
    Kind("confluent", COOPERATIVE),
    Kind("kafka_python", RANGE),
    Kind("aiokafka", RANGE),
    Kind("java", RANGE),
    Kind("java", COOPERATIVE),
]
NEW = [Kind("confluent", UNIFORM, "consumer"), Kind("java", UNIFORM, "consumer")]


def changes(member: Member) -> int:
    """How often partitions came or went.

    A cooperative group may be settled and still owe a member the round that gives it nothing new.
    """
    return sum(bool(event["partitions"]) for event in member.of("assigned", "revoked", "lost"))


RESTARTS = [(kind, "left") for kind in (*CLASSIC, *NEW)] + [(kind, "killed") for kind in CLASSIC]


@pytest.mark.parametrize(("kind", "how"), RESTARTS, ids=str)
def test_a_restart_gives_the_partitions_back_and_nobody_else_notices(
    make_group: Callable[..., Group], kind: Kind, how: str
) -> None:
    """In the new protocol one that is killed has not given up its name, and must wait for the session's end."""
    group = make_group(4)
    with group.flowing():
        other = group.join(kind, instance="other")
        away = group.join(kind, instance="away", alone=True)
        group.settled(2, 2)
        had, noticed = away.owned, changes(other)
        away.leave() if how == "left" else away.kill()
        back = group.join(kind, instance="away")
        eventually(lambda: back.owned == had)
        group.settled()
    group.drained()
    assert changes(other) == noticed
    laws.exactly_once(group) if how == "left" else laws.at_least_once(group)
    laws.one_owner(group)


@kinds.each([kind for kind in CLASSIC if kind.client != "aiokafka"])
def test_a_second_member_of_a_name_fences_the_first(make_group: Callable[..., Group], kind: Kind) -> None:
    """aiokafka does not say its name when it beats its heart, so it cannot be told that it has lost it."""
    group = make_group(2)
    with group.flowing():
        first = group.join(kind, instance="only", alone=True)
        group.settled()
        second = group.join(kind, instance="only", alone=True)
        eventually(lambda: not first.living and second.owned == set(group.partitions))
    assert first.errors[-1] in (FENCED_INSTANCE_ID, FATAL)
    group.drained()
    laws.at_least_once(group)


@kinds.each(NEW)
def test_a_name_in_use_is_refused_in_the_new_protocol(make_group: Callable[..., Group], kind: Kind) -> None:
    group = make_group(2)
    first = group.join(kind, instance="only")
    group.settled()

    second = group.join(kind, instance="only", alone=True)

    eventually(lambda: any(code in (UNRELEASED_INSTANCE_ID, FATAL) for code in second.errors))
    assert first.owned == set(group.partitions) and not second.owned
    group.write(5)
    group.drained()
    laws.exactly_once(group)


@kinds.each(NEW)
def test_a_static_member_that_does_not_return_is_replaced_when_its_session_ends(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(4)
    with group.flowing():
        group.join(kind, instance="stays")
        doomed = group.join(kind, instance="goes", alone=True)
        group.settled()
        doomed.kill()
        group.settled()
    group.drained()
    laws.at_least_once(group)
    laws.one_owner(group)
