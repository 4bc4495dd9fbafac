"""The wall clock of a simulated machine: it may be off, and it may jump.

A node never sees it go back: set back, it runs at half speed until the wall has caught up, as the
real edge's clock does. A new process starts with whatever the wall says, which may be
earlier than what the last one saw.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.model.ids import Millis


class Clock:
    """The time as one machine has it."""

    __slots__ = ("_ahead_ms", "_at", "_last", "_leapt_ms", "_time", "strayed_ms")

    def __init__(self, time: Callable[[], Millis]) -> None:
        """`time` is the world's, which never jumps."""
        self._time = time
        self._ahead_ms = self._leapt_ms = 0
        self.strayed_ms = 0  # by all jumps together: what two clocks differ by is no more than theirs
        self._last = self._at = Millis(0)

    def jump(self, ms: int) -> None:
        """Somebody sets the wall clock, forward or back."""
        self._ahead_ms += ms
        self._leapt_ms += max(ms, 0)
        self.strayed_ms += abs(ms)

    @property
    def reach(self) -> Millis:
        """A time that goes at least as fast as this clock, whatever happens to it: for upper bounds."""
        return Millis(self._time() + self._leapt_ms)

    def restart(self) -> None:
        """A new process asks for the first time."""
        self._last = Millis(0)
        self._at = self._time()

    def now(self) -> Millis:
        """The time; never less than it was in this process."""
        time = self._time()
        least = self._last + (time - self._at) // 2
        if time + self._ahead_ms >= least:
            self._last = Millis(time + self._ahead_ms)
            self._at = time
            return self._last
        return Millis(least)

    def wait_ms(self, until: Millis) -> int:
        """How long, in the world's time, to wait before asking whether it is `until`."""
        return max(0, until - self.now())
