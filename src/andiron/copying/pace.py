"""The --rate of a copy: how long to wait so that no more than so many bytes a second are copied on average.

The average counts from a moment ago, not from the beginning, so that a pause is not made up for with a rush.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MEMORY_S = 1.0


class Pace:
    """How long to wait after so many bytes; never without a rate."""

    def __init__(self, bytes_a_second: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = bytes_a_second, clock
        self._due = clock()

    def wait_s(self, count: int) -> float:
        """`count` bytes were moved: the seconds until the next ones may be."""
        if not self._rate:
            return 0.0
        now = self._clock()
        self._due = max(self._due, now - MEMORY_S) + count / self._rate
        return max(0.0, self._due - now)
