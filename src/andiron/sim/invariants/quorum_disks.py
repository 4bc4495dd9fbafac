"""Committed metadata is on the disks of a majority of the voters: whoever of them loses power, it is not lost.

Looked at when the watermark of whoever leads the metadata moves on. What a voter has synced it keeps, also while it is
away.
"""

from __future__ import annotations

from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher

SYNCED = "committed metadata is on most disks"


class MetadataIsOnMostDisks(Watcher):
    """Remembers how far each node has synced its metadata."""

    def __init__(self) -> None:
        self._flushed: dict[int, int] = {}
        self._watermarks: dict[int, int] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._watermarks.pop(host.number, None)

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        raft = host.node.broker.raft
        partition = raft.partition
        # A node that was started again knows less of its own disk than it had synced.
        kept = min(self._flushed.get(host.number, 0), partition.log.end)
        self._flushed[host.number] = max(kept, partition.log.flushed_end)
        if not partition.leads:
            self._watermarks.pop(host.number, None)
        elif partition.watermark > self._watermarks.setdefault(host.number, partition.watermark):
            self._watermarks[host.number] = partition.watermark
            voters = raft.voters.latest.ids
            synced = [voter for voter in voters if self._flushed.get(voter, 0) >= partition.watermark]
            if not voters.is_majority(synced):
                how = f"up to {partition.watermark}, by {host.name}: of {list(voters)} only {synced} have synced it"
                raise Violation(SYNCED, how)
