"""The time that a node was awake: a steady clock that stands still while nobody looks at it.

Who waits for others judges them by their silence: a leader of the metadata by two seconds of it, a broker by nine, a
member of a group by its session. But a process that was not scheduled (a starved machine, SIGSTOP, a step that took
seconds) has not heard two seconds of silence. It has not listened, and what was said lies in its sockets.

    the machine's clock  ──────────┬───── away ─────┬──────────▶
    awake                ──────────┤                ├──────────▶   all that lasts is measured by this

So an edge looks at the clock at least every NAP_MS, and of a longer gap no more than one nap counts. All patience is
longer than a few naps: however often a node is held up, it has listened several times before it takes anybody for
gone. It costs a node nothing that it stands still for others: what it does is fenced by epochs, and not by time.

Read next: edge/clock.py and sim/clock.py, which have one each; decisions/0022.
"""

from __future__ import annotations

NAP_MS = 250  # the longest that an edge sleeps without a look at the clock
AWAY_MS = 500  # who has not looked for longer was not asleep, but away


class AwakeTime:
    """What counts of a machine's steady time."""

    __slots__ = ("_last", "missed_ms")

    def __init__(self, began: int) -> None:
        self._last = began
        self.missed_ms = 0  # in all: it never counts

    def at(self, steady: int) -> int:
        """What the time is where the machine's clock says `steady`."""
        gone = steady - self.missed_ms - self._last
        if gone > AWAY_MS:
            self.missed_ms += gone - NAP_MS
            gone = NAP_MS
        self._last += gone
        return self._last
