"""What is to be done when: callbacks by their time, the earliest first.

One heap serves everything a node does by the clock. What recurs puts itself back in when it
has run; an entry is never taken out, so a callback whose reason has gone looks and finds
nothing to do.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from andiron.model.ids import NEVER, Millis

Task = Callable[[Millis], None]


class Timetable:
    """Tasks, each due at a time; those of one time in the order in which they were put in."""

    def __init__(self) -> None:
        self._heap: list[tuple[Millis, int, Task]] = []
        self._order = 0

    def __len__(self) -> int:
        return len(self._heap)

    def at(self, due: Millis, task: Task) -> None:
        """Run `task` when `due`; NEVER is never."""
        if due < NEVER:
            self._order += 1
            heapq.heappush(self._heap, (due, self._order, task))

    def next_deadline(self) -> Millis:
        return self._heap[0][0] if self._heap else NEVER

    def run(self, now: Millis) -> None:
        """Run what is due, but not what that puts in: it is for the next turn, others come first."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap))
        due.reverse()
        try:
            while due:
                due.pop()[2](now)
        finally:
            for left in due:  # one has failed; that is no reason to forget the others
                heapq.heappush(self._heap, left)
