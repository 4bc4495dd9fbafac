"""A whole world in one thread: machines, clients, a network, and one queue of what will happen.

    heap    (time, arrival, happening)     the earliest happens next; of one time, the first to arrive
    chance  one random.Random(seed)        drawn from in the order of the happenings

Time jumps from one happening to the next, so an idle hour costs nothing. Everything a seed leads
to follows from it: the same seed is the same history, line for line (trace.py).

Nothing here knows how many nodes there are, or what a node is: host.py owns one as edge/host.py
does, network.py carries frames between clients and hosts.

Read next: host.py, network.py, play.py for what a seed makes of it.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from andiron.model.ids import Millis
from andiron.sim.trace import Trace
from andiron.sim.watcher import ASKED, Violation, Watcher

if TYPE_CHECKING:
    from andiron.sim.host import Host

BEGINS = Millis(1_760_000_000_000)

Happening = Callable[[], None]


class World:
    """What is, and what will be."""

    def __init__(self, seed: int, tell: Callable[[str], None] | None = None) -> None:
        self.chance = random.Random(seed)
        self.now = BEGINS
        self.trace = Trace(BEGINS, tell)
        self.hosts: dict[int, Host] = {}
        self.watchers: list[Watcher] = []
        self.onlookers: list[Watcher] = []  # those of them who want to hear of every step
        self._heap: list[tuple[Millis, int, Happening]] = []
        self._arrivals = 0

    # ── time ─────────────────────────────────────────────────────────────────────────

    def at(self, time: Millis, happening: Happening) -> None:
        """Let something happen then, or now if that has passed."""
        self._arrivals += 1
        heapq.heappush(self._heap, (max(time, self.now), self._arrivals, happening))

    def after(self, delay_ms: int, happening: Happening) -> None:
        """Let something happen in a while."""
        self.at(Millis(self.now + delay_ms), happening)

    def run(self, until: Millis, done: Callable[[], bool] | None = None) -> None:
        """Let happen what is to happen up to `until`, or until `done` says so."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            if done is not None and done():
                return
            self.now, _, happening = heapq.heappop(heap)
            happening()
        if done is None or not done():
            self.now = max(self.now, until)

    # ── telling ──────────────────────────────────────────────────────────────────────

    def note(self, who: str, what: str, about: str = "") -> None:
        """Write a line of history."""
        self.trace.note(self.now, who, what, about)

    def watch(self, watchers: Iterable[Watcher]) -> None:
        """Let these be told of everything, in this order."""
        self.watchers.extend(watchers)
        self.onlookers = [each for each in self.watchers if type(each).stepped is not Watcher.stepped]

    def tell(self, what: Callable[[Watcher], None]) -> None:
        """Tell all who watch, in their order."""
        _tell(self.watchers, what)

    def tell_onlookers(self, what: Callable[[Watcher], None]) -> None:
        """Tell those who want to hear of every step."""
        _tell(self.onlookers, what)


def _tell(watchers: Iterable[Watcher], what: Callable[[Watcher], None]) -> None:
    for watcher in watchers:
        try:
            what(watcher)
        except Violation:
            raise
        except Exception as error:
            raise Violation(ASKED, f"{type(watcher).__name__}: {error!r}") from error
