"""Groups that subscribe to a pattern: topics that match are theirs, also those that are made later.

In the classic protocol the client looks through the topics, in the new one the broker does; its regular
expressions are RE2's and must match the whole name.
"""

from __future__ import annotations

from collections.abc import Callable

from peers import clients
from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.kinds import COOPERATIVE, RANGE, UNIFORM, Kind
from peers.process import Server

CLASSIC = [
    Kind("confluent", RANGE),
    Kind("kafka_python", RANGE),
    Kind("aiokafka", RANGE),
    Kind("java", COOPERATIVE),
]
NEW = [Kind("confluent", UNIFORM, "consumer"), Kind("java", UNIFORM, "consumer")]


def pattern(name: str, kind: Kind) -> str:
    """librdkafka knows a pattern by its first character."""
    caret = "^" if kind.client == "confluent" else ""
    return f"{caret}{name}-[ab].*"


@kinds.each([*CLASSIC, *NEW])
def test_a_group_reads_the_topics_that_match(
    node: Server, name: str, make_group: Callable[..., Group], kind: Kind
) -> None:
    admin = clients.connect("confluent", node.bootstrap)
    for topic in (f"{name}-a", f"{name}-b", f"{name}-c", f"not-{name}-a"):
        admin.create_topic(topic, 2, 1)
    group = make_group(named={f"{name}-a": 2, f"{name}-b": 2})
    first = group.join(kind, pattern=pattern(name, kind))
    group.settled()
    group.join(kind, pattern=pattern(name, kind))
    group.settled()
    group.write(5)
    group.drained()
    first.leave()
    group.settled()
    laws.exactly_once(group)
    laws.one_owner(group)


@kinds.each([*CLASSIC, *NEW])
def test_a_topic_that_is_made_later_is_found(
    node: Server, name: str, make_group: Callable[..., Group], kind: Kind
) -> None:
    admin = clients.connect("confluent", node.bootstrap)
    admin.create_topic(f"{name}-a", 1, 1)
    group = make_group(named={f"{name}-a": 1})
    group.join(kind, pattern=pattern(name, kind))
    group.settled()

    admin.create_topic(f"{name}-b", 2, 1)

    group.grown(f"{name}-b", 2)
    group.settled()
    group.write(3)
    group.drained()
    laws.exactly_once(group)


@kinds.each(NEW)
def test_some_of_a_group_know_names_and_some_a_pattern(
    node: Server, name: str, make_group: Callable[..., Group], kind: Kind
) -> None:
    admin = clients.connect("confluent", node.bootstrap)
    for topic in (f"{name}-a", f"{name}-b"):
        admin.create_topic(topic, 2, 1)
    group = make_group(named={f"{name}-a": 2, f"{name}-b": 2})
    with group.flowing():
        wide = group.join(kind, pattern=pattern(name, kind))
        group.settled()
        narrow = group.join(kind, topics=[f"{name}-b"])
        group.settled()
        assert {topic for topic, _ in narrow.owned} == {f"{name}-b"}
        assert {(f"{name}-a", 0), (f"{name}-a", 1)} <= wide.owned
    group.drained()
    laws.exactly_once(group)
    laws.one_owner(group)
    laws.nothing_moved_in_vain(group)
