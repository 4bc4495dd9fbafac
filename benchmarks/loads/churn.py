"""The same keys written over and over at a steady rate: work for a log cleaner, if the topic has one."""

from __future__ import annotations

import random
import time

from loads import answer
from peers import frames
from peers.raw import Raw

MB = 1 << 20
KEYS = 5000
BATCHES = 50


def load(port: int, topic: str, seconds: float, mb_per_s: float) -> dict[str, float]:
    requests = [frames.produce(topic, {0: _batch(seed)}) for seed in range(BATCHES)]
    sent, number = 0, 0
    with Raw(port) as link:
        started = time.perf_counter()
        while (passed := time.perf_counter() - started) < seconds:
            if sent / MB > passed * mb_per_s:
                time.sleep(0.001)
                continue
            request = requests[number % BATCHES]
            link.ask(request)
            sent += len(request)
            number += 1
    return {"mb": sent / MB, "seconds": seconds}


def _batch(seed: int) -> bytes:
    chance = random.Random(seed)
    keys = [b"key-%06d" % chance.randrange(KEYS) for _ in range(200)]
    return frames.batch([bytes(500)] * 200, keys=keys, timestamp=int(time.time() * 1000))


if __name__ == "__main__":
    answer(load)
