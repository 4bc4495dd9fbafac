"""The two clocks of a machine, read together: one that goes evenly, and the one on the wall.

A wall clock is set: forward after a pause of the machine, back by whoever sees to it. A node that measured by it would
take its sessions and transactions for over, or wait for an hour that had been already. So the node's `now` is steady,
and carries what the wall says for what is written down (model/ids.py):

    wall     ──────────▶│            set back by one second, and a minute later forward
                  ──────│──────────────▶           ·······▶
    now      ───────────┼──────────────────────────────────▶

The steady clock begins where the wall's is when the process does, so that the two are nearly the same number, and
whoever reads one for the other by mistake is off by what was set since then, and not by fifty years.

It stands still while the process does (model/awake.py): whoever was not scheduled has not waited.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from andiron.model.awake import AwakeTime
from andiron.model.ids import Millis, Moment

_NANOS = 1_000_000  # in a millisecond


class Clock:
    """Asked once a turn of the loop; all that happens in one turn happens at one time."""

    __slots__ = ("_ahead", "_awake", "_steady", "_wall")

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._wall, self._steady = wall, steady
        self._ahead = wall() - steady()
        self._awake = AwakeTime((steady() + self._ahead) // _NANOS)

    def now(self) -> Millis:
        """The time by the steady clock, never less than it was; it knows that of the other."""
        steady, wall = self._steady() + self._ahead, self._wall()
        return Millis(Moment(self._awake.at(steady // _NANOS), wall // _NANOS))

    @property
    def missed_ms(self) -> int:
        """For how long the process was away, in all."""
        return self._awake.missed_ms
