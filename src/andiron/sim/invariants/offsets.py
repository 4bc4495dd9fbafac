"""The offsets that bound a log are in order, and the watermark moves one way.

    start ≤ last stable ≤ watermark ≤ end,   flushed ≤ end,   clean ≤ end

They are so on every replica: what is written where a log was cut is neither flushed nor clean. Within the life of a
node and a leader epoch the watermark of a leader never goes back; a follower's does when its log is cut. When nothing
is under way, everything that was appended is committed: nobody waits for ever.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.sim.host import Host
from andiron.sim.mirror import Key, key_of
from andiron.sim.watcher import End, Violation, Watcher

ORDER = "start ≤ last stable ≤ watermark ≤ end"
CLEAN = "nothing beyond the end of a log is clean"
FORWARD = "a watermark never goes back"
REACHED = "everything appended is committed in the end"


class OffsetsInOrder(Watcher):
    """Compares them after every step."""

    def __init__(self) -> None:
        self._watermarks: dict[Key, tuple[int, int]] = {}  # of leaders: the epoch, and the watermark

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        for partition in (host.node.broker.raft.partition, *host.changed):
            if partition.failure is None:
                self._check(host, partition)
        for partition in host.changed:
            self._check_clean(host, partition)

    def went_down(self, host: Host, end: End) -> None:
        self._watermarks = {key: at for key, at in self._watermarks.items() if key[0] != host.number}

    def rested(self, host: Host) -> None:
        assert host.node is not None
        for partition in host.node.broker.replica_manager:
            if partition.watermark != partition.log.end:
                how = f"{partition.name} ends at {partition.log.end}, committed up to {partition.watermark}"
                raise Violation(REACHED, how)

    def _check(self, host: Host, partition: Partition) -> None:
        log, watermark = partition.log, partition.watermark
        stable = log.producers.last_stable(watermark)
        if not log.start <= max(stable, log.start) <= watermark <= log.end or log.flushed_end > log.end:
            offsets = f"{log.start} {stable} {watermark} {log.end}, flushed {log.flushed_end}"
            raise Violation(ORDER, f"{partition.name}: {offsets}")
        if partition.leads:
            key, epoch = key_of(host, partition), partition.epoch
            seen = self._watermarks.get(key)
            if seen is not None and seen[0] == epoch and watermark < seen[1]:
                raise Violation(FORWARD, f"{partition.name}: {seen[1]}, then {watermark}")
            self._watermarks[key] = epoch, watermark

    def _check_clean(self, host: Host, partition: Partition) -> None:
        assert host.node is not None
        cleaned_upto = host.node.broker.directories.cleaned_upto(partition.name)
        if cleaned_upto is not None and cleaned_upto > partition.log.end:
            raise Violation(
                CLEAN, f"{partition.name} ends at {partition.log.end}, clean up to {cleaned_upto}"
            )
