"""What does a small fetch cost at a chosen place of a log? One at a time, the places drawn by chance."""

from __future__ import annotations

import random
import time

from loads import answer, percentiles
from peers import frames
from peers.raw import Raw


def load(port: int, topic: str, first: int, last: int, count: int) -> dict[str, float]:
    chance = random.Random(first)
    times = []
    with Raw(port) as link:
        for _ in range(count):
            request = frames.fetch(topic, {0: chance.randrange(first, last)}, partition_bytes=1)
            started = time.perf_counter()
            found = frames.read_fetch(link.ask(request))
            times.append(time.perf_counter() - started)
            assert found.partitions[0][0] == 0 and found.partitions[0][2]
    return percentiles(times)


if __name__ == "__main__":
    answer(load)
