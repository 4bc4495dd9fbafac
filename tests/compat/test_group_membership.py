"""Who is in a group, and what becomes of the partitions of those who go, crash, or fall silent.

A member is killed with SIGKILL: its coordinator is told nothing and waits out the session. Records that it had
processed and not committed are processed again by the next owner, and none is lost.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from peers import clients
from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.kinds import COOPERATIVE, RANGE, UNIFORM, Kind
from peers.process import Server
from peers.waiting import eventually

# For those who are to be missed soon; the new protocol has the broker's
SHORT: dict[str, Any] = {"session_ms": 2000}


@kinds.each(kinds.SOME)
def test_the_partitions_of_a_member_that_crashed_go_to_the_others(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(6)
    with group.flowing():
        group.join(kind)
        doomed = group.join(kind, alone=True, **SHORT)
        group.settled()
        doomed.kill()
        group.settled()
    group.drained()
    laws.at_least_once(group)
    laws.one_owner(group)


@kinds.each([kind for kind in kinds.SOME if kind not in (Kind("java", COOPERATIVE), kinds.NEW[0])])
def test_a_member_that_was_started_again_is_a_new_member(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(6)
    with group.flowing():
        group.join(kind)
        doomed = group.join(kind, alone=True, **SHORT)
        group.settled()
        doomed.kill()
        group.join(kind)
        group.settled(3, 3)
    group.drained()
    laws.at_least_once(group)
    laws.one_owner(group)


@kinds.each(kinds.SOME)
def test_a_group_that_all_left_goes_on_where_it_was(make_group: Callable[..., Group], kind: Kind) -> None:
    group = make_group(3)
    group.write(20)
    first = group.join(kind)
    group.drained()
    first.leave()
    group.write(20)

    group.join(kind)

    group.drained()
    laws.exactly_once(group)


@kinds.each([Kind("confluent", RANGE), Kind("kafka_python", RANGE), Kind("java", RANGE), kinds.NEW[2]])
def test_a_member_that_does_not_poll_loses_its_partitions_and_may_come_back(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(4)
    with group.flowing():
        busy = group.join(kind, poll_ms=2000, **SHORT)
        other = group.join(kind)
        group.settled()
        busy.tell("pause")
        eventually(lambda: other.owned == set(group.partitions))
        busy.tell("resume")
        eventually(lambda: bool(busy.of("lost") or busy.errors))
        group.settled()
    group.drained()
    laws.at_least_once(group)


@kinds.each(
    [Kind("confluent", COOPERATIVE), Kind("kafka_python", RANGE), Kind("aiokafka", RANGE), kinds.NEW[0]]
)
def test_everyone_is_given_only_what_it_subscribed_to(make_group: Callable[..., Group], kind: Kind) -> None:
    group = make_group(2, 4)
    small, large = group.topics
    with group.flowing():
        both = group.join(kind)
        only = group.join(kind, topics=[large])
        group.settled()
        assert {topic for topic, _ in only.owned} == {large}
        assert {(small, 0), (small, 1)} <= both.owned
    group.drained()
    laws.exactly_once(group)
    laws.one_owner(group)


@kinds.each([Kind("confluent", RANGE), Kind("aiokafka", RANGE), Kind("java", COOPERATIVE), kinds.NEW[2]])
def test_groups_know_nothing_of_each_other(make_group: Callable[..., Group], kind: Kind) -> None:
    """Each of three groups over one topic processes all of it, whatever becomes of the others."""
    group = make_group(4)
    others = [make_group(named=group.topics) for _ in range(2)]
    for each in (group, *others):
        each.join(kind)
        each.written = group.written  # what one writes all must read
    group.settled()
    second = others[0].join(kind)
    with group.flowing():
        for other in others:
            other.settled()
        second.leave()
        others[0].settled()
    for each in (group, *others):
        each.drained()
        laws.exactly_once(each)
    assert not any(event["partitions"] for event in group.members[0].of("revoked"))


@kinds.each([Kind("confluent", RANGE), Kind("kafka_python", RANGE), Kind("aiokafka", RANGE), *kinds.NEW[::2]])
def test_new_partitions_find_an_owner(node: Server, make_group: Callable[..., Group], kind: Kind) -> None:
    """In the classic protocol a member must notice, in the new one the broker does."""
    group = make_group(2)
    (topic,) = group.topics
    group.join(kind)
    group.join(kind)
    group.settled()

    clients.connect("confluent", node.bootstrap).create_partitions(topic, 4)

    group.grown(topic, 4)
    group.settled()
    group.write(5)
    group.drained()
    laws.exactly_once(group)
    laws.one_owner(group)


def test_members_of_two_libraries_share_a_group_of_the_new_protocol(make_group: Callable[..., Group]) -> None:
    group = make_group(6)
    with group.flowing():
        java = group.join(Kind("java", UNIFORM, "consumer"))
        group.settled()
        group.join(Kind("confluent", UNIFORM, "consumer"))
        group.settled(3, 3)
        java.leave()
        group.settled()
    group.drained()
    laws.exactly_once(group)
    laws.one_owner(group)
    laws.nothing_moved_in_vain(group)


@pytest.mark.parametrize("assignor", [RANGE, COOPERATIVE])
def test_kcat_goes_on_where_it_was(node: Server, make_group: Callable[..., Group], assignor: str) -> None:
    """A librdkafka of some years ago, as shell scripts use it: read to the end, commit, leave."""
    if not shutil.which("kcat"):
        pytest.skip("kcat is not installed")
    group = make_group(2)
    settings = ["auto.offset.reset=earliest", f"partition.assignment.strategy={assignor}"]
    options = [part for setting in settings for part in ("-X", setting)]
    command = [
        "kcat",
        "-q",
        "-b",
        node.bootstrap,
        *options,
        "-G",
        group.name,
        "-e",
        "-f",
        "%p %o\n",
        *group.topics,
    ]
    for begin in (0, 5, 10):
        group.write(5)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        expected = {f"{number} {offset}" for number in (0, 1) for offset in range(begin, begin + 5)}
        assert sorted(done.stdout.splitlines()) == sorted(expected)
