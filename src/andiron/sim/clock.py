"""The two clocks of a simulated machine: one on the wall, which may be off and may jump, and one that goes evenly.

As the real edge's: the steady one begins where the wall's is when the process does, so a new process may begin with an
earlier time than the last one saw.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.model.ids import Millis, Moment


class Clock:
    """The time as one machine has it."""

    __slots__ = ("_ahead_ms", "_began_ahead_ms", "_leapt_ms", "_time", "strayed_ms")

    def __init__(self, time: Callable[[], Millis]) -> None:
        """`time` is the world's, which never jumps."""
        self._time = time
        self._ahead_ms = self._leapt_ms = self._began_ahead_ms = 0
        self.strayed_ms = 0  # by all jumps together: what two clocks differ by is no more than theirs

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
        self._began_ahead_ms = self._ahead_ms

    def now(self) -> Millis:
        """The time by the steady clock, which knows that of the wall's."""
        time = self._time()
        return Millis(Moment(time + self._began_ahead_ms, time + self._ahead_ms))

    def wait_ms(self, until: Millis) -> int:
        """How long, in the world's time, to wait before asking whether it is `until`."""
        return max(0, until - self.now())
