"""The time of day in milliseconds, for a node that must never see it go back.

The node's `now` is the wall clock: record timestamps, retention and Kafka's tools all
speak it. A wall clock is set back now and then, and a node that saw that would take
half of its timers for lost.

    wall     ──────────▶│        set back by one second
                  ──────│──────────────▶
    now()    ───────────▶───▶───▶───▶──────▶
                         half speed until the wall has caught up

Half speed and not standing still: a timer that is due goes on becoming due.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from andiron.model.ids import Millis

_NANOS = 1_000_000  # in a millisecond


class Clock:
    """Asked once a turn of the loop; all that happens in one turn happens at one time."""

    __slots__ = ("_last", "_steady", "_steady_at", "_wall")

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._wall, self._steady = wall, steady
        self._last = wall()
        self._steady_at = steady()

    def now(self) -> Millis:
        """The time; never less than it was."""
        steady = self._steady()
        least = self._last + (steady - self._steady_at) // 2
        self._last, self._steady_at = max(self._wall(), least), steady
        return Millis(self._last // _NANOS)
