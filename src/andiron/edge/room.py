"""The memory that requests may take while they arrive and wait for their answers: queued.max.request.bytes.

A connection reads small requests into a buffer that it has anyway. For a large one it needs room, all of it before it
reads on, as in Kafka: who holds the half of two requests each could wait for the other for ever. While any room is left
a request gets all it needs, so there may be one more than the limit allows, and none is too large for it.

    take ──▶ granted: it reads on, and gives back when its buffer is small again, or it is closed
         └─▶ not yet: it reads no further, and the client feels it; until somebody gives back

Whoever claims room and does not use it must not keep others out for ever: if some wait, those who have had room for
longer than LATE_MS without being done are closed, one at a sweep (connections.py).

Kafka's default is -1, without a limit; here that is a quarter of the machine's memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

LATE_MS = 30_000


class Guest(Protocol):
    """Who waits for room."""

    def has_room(self) -> None:
        """There is some again."""


class Room:
    """How much is taken, and who waits."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._without_limit = machines_memory() // 4
        self.taken = 0
        self.waiting: dict[Guest, None] = {}

    @property
    def limit(self) -> int:
        given = self._limit()
        return self._without_limit if given < 0 else given

    def take(self, size: int) -> bool:
        """Have so much more, if any is left."""
        if self.taken and self.taken >= self.limit:
            return False
        self.taken += size
        return True

    def give_back(self, size: int) -> None:
        """Have so much less; those who wait try again."""
        self.taken -= size
        if size and self.waiting and self.taken < self.limit:
            waiting, self.waiting = self.waiting, {}
            for guest in waiting:
                guest.has_room()


def machines_memory() -> int:
    """Its bytes, or four gigabytes where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 4 << 30
