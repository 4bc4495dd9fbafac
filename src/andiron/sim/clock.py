"""The two clocks of a simulated machine: one on the wall, which may be off and may jump, and one that goes evenly.

As the real edge's: the steady one begins where the wall's is when the process does, so a new process may begin with an
earlier time than the last one saw; and it stands still while the process is paused (model/awake.py).
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.model.awake import NAP_MS, AwakeTime
from andiron.model.ids import Millis, Moment


class Clock:
    """The time as one machine has it."""

    __slots__ = (
        "_ahead_ms", "_asked_at", "_awake", "_began_ahead_ms", "_is_asleep", "_leapt_ms", "_time", "strayed_ms",
    )  # fmt: skip

    def __init__(self, time: Callable[[], Millis]) -> None:
        """`time` is the world's, which never jumps."""
        self._time = time
        self._ahead_ms = self._leapt_ms = self._began_ahead_ms = 0
        self._awake, self._asked_at, self._is_asleep = AwakeTime(time()), time(), False
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
        self._awake, self._asked_at, self._is_asleep = AwakeTime(self._time()), self._time(), False

    def stop(self) -> None:
        """The process is paused: it looks at its clock no more."""
        self.now()
        self._is_asleep = True

    def go_on(self) -> None:
        """And looks at it again."""
        self._is_asleep, self._asked_at = False, self._time()

    def now(self) -> Millis:
        """The time by the steady clock, which knows that of the wall's."""
        time = self._asked_at if self._is_asleep else self._time()
        for looked in range(self._asked_at + NAP_MS, time, NAP_MS):  # as an edge does that has nothing to do
            self._awake.at(looked)
        self._asked_at = time
        return Millis(Moment(self._awake.at(time) + self._began_ahead_ms, self._time() + self._ahead_ms))

    @property
    def missed_ms(self) -> int:
        """For how long the process was paused, as far as that does not count."""
        return self._awake.missed_ms

    def wait_ms(self, until: Millis) -> int:
        """How long, in the world's time, to wait before asking whether it is `until`."""
        return max(0, until - self.now())
