"""The range assignor: of each topic, each subscriber gets a stretch of neighbours.

    topic of 7 partitions    a: 0 1 2    b: 3 4    c: 5 6
    another of 7             a: 0 1 2    b: 3 4    c: 5 6

Topics with as many partitions and the same subscribers are cut at the same places, so that a member that joins two
of them holds the matching partitions of both. That is what it is for, and the price is that members move up when one
comes or goes, and that the first ones have more of every topic.

Subscribers stand in a fixed order: static ones first, by their instance ids, so that a restart under a new member id
changes nothing; then the others by theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from andiron.groups.assignors.spec import Partitions, Subscriber


def assign(subscribers: Sequence[Subscriber], partitions: Mapping[bytes, int]) -> dict[str, Partitions]:
    """Cut every topic into stretches, one for each who reads it."""
    readers: dict[bytes, list[str]] = {}
    assignment: dict[str, dict[bytes, tuple[int, ...]]] = {}
    for subscriber in sorted(subscribers, key=_place):
        assignment[subscriber.id] = {}
        for topic in subscriber.topics:
            if partitions.get(topic, 0) > 0:
                readers.setdefault(topic, []).append(subscriber.id)
    for topic in sorted(readers):
        _cut(topic, partitions[topic], readers[topic], assignment)
    return dict(assignment)


def _place(subscriber: Subscriber) -> tuple[bool, str]:
    dynamic = subscriber.instance_id is None
    return dynamic, subscriber.id if subscriber.instance_id is None else subscriber.instance_id


def _cut(
    topic: bytes, count: int, readers: list[str], assignment: dict[str, dict[bytes, tuple[int, ...]]]
) -> None:
    least, longer = divmod(count, len(readers))
    start = 0
    for place, reader in enumerate(readers):
        end = start + least + (place < longer)
        if end > start:
            assignment[reader][topic] = tuple(range(start, end))
        start = end
