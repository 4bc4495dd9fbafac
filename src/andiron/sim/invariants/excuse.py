"""The one excuse of coordinators: the power went, and with it what several logs had agreed on.

A log that is not synced loses its end with the power, each log another one: a transaction may be forgotten by
its coordinator and not by those it wrote to. With one replica and no flush policy nobody has promised
anything else. Where every log is synced before anything is said (flush.messages=1), there is no excuse.
"""

from __future__ import annotations

from andiron.sim.host import Host
from andiron.sim.watcher import End, Watcher


class Excuse(Watcher):
    """Whether what lies in several logs may not fit together any more."""

    def __init__(self, *, durable: bool) -> None:
        """`durable`: every log is synced before anything is said."""
        self._durable = durable
        self.is_given = False

    def went_down(self, host: Host, end: End) -> None:
        if end is End.POWER_LOST:
            self.lost_power(host)

    def lost_power(self, host: Host) -> None:
        self.is_given = self.is_given or not self._durable
