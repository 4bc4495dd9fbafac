"""What does it cost to be measured?

Every request is counted and timed, whether or not somebody scrapes, so all of them pay for it:

    produce, the usual way      node.step for a batch of 100 bytes, as a producer sends it again and again
    produce, by its handler     the same without the shortcut
    fetch                       node.step for a fetch that finds one batch
    turn                        a request through a host and its sockets, with a node that answers a constant

To compare with another commit, run these there too (PYTHONPATH=THERE/src:tests:benchmarks). Shown is the best of many
short rounds, so that a busy machine shows the same figures as a quiet one; docs/metrics.md has them.

`PYTHONPATH=src:tests python benchmarks/bench_metrics.py [steps|turn …]`, one JSON line a row.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from andiron.model.effects import Received
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from bench_turn import with_host
from harness import commit
from worlds.node import SmallNode

ROUNDS, STEPS = 300, 300


def best_us(once: Callable[[], None]) -> float:
    """Microseconds of one call, in the best of many rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(STEPS):
            once()
        best = min(best, (time.perf_counter() - began) / STEPS)
    return best * 1e6


def report(name: str, **figures: object) -> None:
    where = {"python": platform.python_version(), "commit": commit()}
    print(json.dumps({"bench": name, **figures, **where}), flush=True)


def framed(request: Any, version: int) -> memoryview:
    header = encode_request_header(request.__api_key__, version, 1, "bench")
    return memoryview(bytearray(header + encode_message(request, version)))


def steps() -> None:
    world = SmallNode()
    world.create("orders")
    step, now, tickets = world.node.step, world.now, itertools.count(1)
    produced = framed(world.produce_request("orders", [b"x" * 100]), 9)
    fetched = framed(world.fetch_request("orders", 0, partition_bytes=100), 12)

    def usual() -> None:
        step(Received(1, next(tickets), produced), now)

    def by_handler() -> None:
        world.node._shortcuts.clear()
        step(Received(1, next(tickets), produced), now)

    def fetch() -> None:
        step(Received(1, next(tickets), fetched), now)

    for name, once in (
        ("produce, the usual way", usual),
        ("produce, by its handler", by_handler),
        ("fetch", fetch),
    ):
        once()
        report(name, us=round(best_us(once), 2))


def turn() -> None:
    for links, in_flight in ((1, 1), (10, 5), (1, 50)):
        with tempfile.TemporaryDirectory() as folder:
            report(f"turn {links}x{in_flight}", us_a_request=round(with_host(links, in_flight, folder), 2))


ROWS = {"steps": steps, "turn": turn}

if __name__ == "__main__":
    for name in sys.argv[1:] or list(ROWS):
        ROWS[name]()
