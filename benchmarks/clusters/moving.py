"""Replicas move to another broker: one that is large, and many that are small.

Two replicas, of which one moves: from the request until nothing is under way any more, which is when the new one is in
sync and the old one is gone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import loads
from andiron.model.ids import TopicPartition
from clusters import nodes
from clusters.part import Part

BEFORE, AFTER = [1, 2], [1, 3]
SMALL_KB = 100  # in each of the small ones


def reassign(part: Part) -> None:
    """How fast replicas move when nothing else is going on."""
    scale = part.scale
    elapsed = moved(part, "large", 1, scale.move_mb)
    part.add("one replica moves", scale.move_mb / elapsed, "MB/s", "higher")
    some = scale.move_partitions
    elapsed = moved(part, "small", some, some * SMALL_KB / 1024)
    part.add(f"{some} replicas of {SMALL_KB} KB move", some / elapsed, "1/s", "higher")


def moved(part: Part, topic: str, partitions: int, total_mb: float) -> float:
    """The seconds that it took to move one replica of each."""
    part.asking.create(topic, partitions, replicas=BEFORE)
    place = {"bootstrap": nodes.bootstrap(part.cluster), "topic": topic, "partitions": partitions}
    loads.run("replicated", way="produce", value_bytes=1000, total_mb=total_mb, codec="none", **place)
    places = {TopicPartition(topic, number): AFTER for number in range(partitions)}
    cpu, began = nodes.cpu_seconds(part.cluster), time.monotonic()
    part.asking.move(places)
    elapsed = time.monotonic() - began
    part.add(f"moving {topic}: CPU", nodes.cpu_seconds(part.cluster) - cpu, "s")
    check(part, topic, AFTER)
    return elapsed


def check(part: Part, topic: str, replicas: Sequence[int]) -> None:
    """All are where they should be."""

    def there() -> bool:
        found = part.asking.partitions(topic)
        return all(each.replicas == list(replicas) and sorted(each.isr) == list(replicas) for each in found)

    part.asking.until(there, f"{topic} has moved")
