"""When to look after whom: one deadline a key, the earliest first.

Sessions, joins and rebalances all end by the clock. A deadline that is moved is not searched for in the heap: the
new one goes in beside it and the old entry, when its time comes, is found to count no more. So a heartbeat costs
one push.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

from andiron.model.ids import NEVER, Millis

K = TypeVar("K", bound=Hashable)


class Timers(Generic[K]):
    """Deadlines by key."""

    def __init__(self) -> None:
        self._due: dict[K, Millis] = {}
        self._heap: list[tuple[Millis, int, K]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    def set(self, key: K, due: Millis) -> None:
        """`key` is due then, and at no other time."""
        if self._due.get(key) != due:
            self._due[key] = due
            self._order += 1
            heapq.heappush(self._heap, (due, self._order, key))

    def cancel(self, key: K) -> None:
        """`key` is not due any more."""
        self._due.pop(key, None)

    def next_deadline(self) -> Millis:
        """When the first is due."""
        self._drop_moved()
        return self._heap[0][0] if self._heap else NEVER

    def take(self, now: Millis) -> K | None:
        """One that is due, which it then is no longer; None if none is."""
        self._drop_moved()
        if not self._heap or self._heap[0][0] > now:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._due[key]
        return key

    def _drop_moved(self) -> None:
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
