"""A step is short: what a follower takes in of its leaders' logs in one is bounded, however much has come.

The cost of a step cannot be timed here, where there is no clock; it is measured by what it did. Everything else that
can grow with a log is done in pieces too: coordinators load a piece at a time, housekeeping looks at some partitions.
"""

from __future__ import annotations

from andiron.broker.replicas.replica_fetcher import STEPS
from andiron.sim.host import Host
from andiron.sim.mirror import Key, key_of
from andiron.sim.watcher import End, Violation, Watcher

SHORT = "a step takes in no more than its share"

BATCH_MAX = 900  # bytes: the last batch may go beyond it, and none is larger here


class StepsAreShort(Watcher):
    """Compares the sizes of logs that follow, before and after."""

    def __init__(self) -> None:
        self._sizes: dict[Key, int] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._sizes = {key: size for key, size in self._sizes.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        grown = 0
        for partition in host.changed:
            key, size = key_of(host, partition), partition.log.size
            if partition.follows:
                grown += max(0, size - self._sizes.get(key, size))
            self._sizes[key] = size
        share = host.settings.replication.replica_fetch_max_bytes // STEPS
        if grown > share + BATCH_MAX:
            raise Violation(SHORT, f"{host.name} took in {grown} bytes, and {share} are its share")
