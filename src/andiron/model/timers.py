"""When to look after whom: one deadline a key, the earliest first.

Sessions, joins and rebalances all end by the clock. A deadline that is moved is not searched for in the heap: the
new one goes in beside it and the old entry, when its time comes, is found to count no more. So a heartbeat costs
one push.

The law: memory follows what is due, and not what was. An entry that counts no more may be due in an hour, and thousands
like it come before that; when they are the greater part of the heap it is made anew, from what counts.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

from andiron.model.ids import NEVER, Millis

K = TypeVar("K", bound=Hashable)

SPARE = 16  # entries that count no more and are let be, however few do


class Timers(Generic[K]):
    """Deadlines by key."""

    __slots__ = ("_due", "_heap", "_order")

    def __init__(self) -> None:
        self._due: dict[K, tuple[Millis, int, K]] = {}  # the entries that count
        self._heap: list[tuple[Millis, int, K]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    @property
    def entries(self) -> int:
        """How many are remembered, those that count no more among them."""
        return len(self._heap)

    def set(self, key: K, due: Millis) -> None:
        """`key` is due then, and at no other time."""
        present = self._due.get(key)
        if present is None or present[0] != due:
            self._order += 1
            self._due[key] = entry = due, self._order, key
            heapq.heappush(self._heap, entry)
            self._make_anew_if_worn()

    def cancel(self, key: K) -> None:
        """`key` is not due any more."""
        if self._due.pop(key, None) is not None:
            self._make_anew_if_worn()

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
        while self._heap and self._due.get(self._heap[0][2]) is not self._heap[0]:
            heapq.heappop(self._heap)

    def _make_anew_if_worn(self) -> None:
        if len(self._heap) > 2 * len(self._due) + SPARE:
            self._heap = sorted(self._due.values())
