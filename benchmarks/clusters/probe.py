"""How long can a partition not be written to, whoever asks? Every node is asked to write, again and again.

    node 1   ✓ ✓ ✓ ✓ ✗ · · · · · · · · ·       a record with acks=all every few milliseconds, on a connection to each
    node 2   n n n n n n n n ✓ ✓ ✓ ✓ ✓ ✓       n: another leads
                   └────┬───┘
                     the gap

So there is no client in it that would have to find out who leads: a gap is the cluster's alone. What a client makes of
it is the pulse's to tell (pulse.py).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Self

from servers import Closed, Raw, frames

EVERY_S = 0.005
AGAIN_S = 0.02  # to connect
ANSWER_S = 60.0
BEFORE_S = 0.2


class Probe:
    """Asks from the beginning of the block to its end."""

    def __init__(self, ports: Iterable[int], topic: str) -> None:
        self._request = frames.produce(topic, {0: frames.batch([b"probe"])}, acks=-1)
        self._written: list[float] = []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._insist, args=(port,), daemon=True) for port in ports]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def longest(self, since: float) -> float:
        """The longest time between two writes, the first of them not long before a moment."""
        times = sorted(at for at in self._written if at > since - BEFORE_S)
        return max((after - before for before, after in pairwise(times)), default=0.0)

    def _insist(self, port: int) -> None:
        while not self._ended.is_set():
            try:
                with Raw(port, timeout=ANSWER_S) as link:
                    self._ask(link)
            except (OSError, Closed):
                self._ended.wait(AGAIN_S)

    def _ask(self, link: Raw) -> None:
        while not self._ended.wait(EVERY_S):
            if frames.read_produce(link.ask(self._request))[0][0] == 0:
                self._written.append(time.monotonic())
