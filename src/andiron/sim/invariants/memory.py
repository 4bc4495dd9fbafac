"""Memory follows state: what a node keeps in mind grows with what there is, and not with what has happened.

A leak of an entry a transaction shows on no day of tests, and stops a node after a year. Here time is cheap, and who is
at rest has no excuse: nothing is under way that an entry could be of.
"""

from __future__ import annotations

from andiron.broker.telemetry.census import census
from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher

FOLLOWS = "memory follows state"


class MemoryFollowsState(Watcher):
    """Counts the entries of tables, and what they are of."""

    def went_down(self, host: Host, end: End) -> None:
        if (
            host.is_open
        ):  # one that is still reading its logs remembers what it reads, until it knows what is committed
            self.rested(host)

    def rested(self, host: Host) -> None:
        if host.node is None:
            return
        for kept in census(host.node.broker):
            if kept.is_worn:
                what = f"{host.name} has {kept.entries} {kept.table}, and there are {kept.living}"
                raise Violation(FOLLOWS, what)
