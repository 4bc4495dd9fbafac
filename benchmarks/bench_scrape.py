"""What does a scrape cost a node with 10,000 partitions, and a group that is behind on all of them?

It bounds how often one may scrape, and how long a turn of the loop is held up by it: by one piece of the text and by
SLICE_S (edge/metrics/server.py) at most. When written (CPython 3.11, 2 shared cores): 100 ms of CPU and 5.5 MB without
the group, 160 ms and 7.7 MB with it, no piece longer than 4 ms. Every 15 seconds that is one hundredth of a core.

`PYTHONPATH=src:tests python benchmarks/bench_scrape.py`, one JSON line a row.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator

from andiron.edge.metrics.catalog import scraper
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from harness import commit
from unit.edge.metrics.scraped import host_of
from worlds.coordinating import coordinating
from worlds.node import SmallNode

TOPICS, PARTITIONS = 10, 1_000


def fall_behind(world: SmallNode) -> None:
    """A record in every partition, and a group that has read none of them."""
    for topic in (f"topic-{number}" for number in range(TOPICS)):
        for partition in range(PARTITIONS):
            world.produce(topic, b"x" * 100, partition=partition)
        wanted = [OffsetCommitRequestPartition(partition, 0) for partition in range(PARTITIONS)]
        world.ask(OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(topic, partitions=wanted)]), 9)


def measure(name: str, scrape: Callable[[], Iterator[bytes]]) -> None:
    longest, size = 0.0, 0
    began = at = time.process_time()
    for piece in scrape():
        now = time.process_time()
        longest, at, size = max(longest, now - at), now, size + len(piece)
    row = {
        "bench": f"scrape, {name}",
        "cpu_ms": round((time.process_time() - began) * 1e3),
        "longest_ms": round(longest * 1e3, 2),
        "mb": round(size / 1e6, 1),
    }
    print(json.dumps(row | {"python": platform.python_version(), "commit": commit()}), flush=True)


def main() -> None:
    world = coordinating()
    for number in range(TOPICS):
        world.create(f"topic-{number}", PARTITIONS)
    scrape = scraper(host_of(world.node, world.now), world.node)
    measure("10,000 partitions", scrape)
    fall_behind(world)
    measure("with 10,000 lags, some of which are looked up", scrape)
    for _ in range(5):
        b"".join(scrape())
    measure("with 10,000 lags, all of them known", scrape)


if __name__ == "__main__":
    main()
