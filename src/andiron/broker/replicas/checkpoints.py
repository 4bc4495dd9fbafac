"""What is written down of the logs here, so that a start knows how far to trust each of them.

    recovery-point-offset-checkpoint       how far each log is on the disk
    replication-offset-checkpoint          its high watermark
    log-start-offset-checkpoint            where it starts

Of a log that will not open they go on saying what they said. When each is written is in housekeeping.py; where logs
start is also written whenever somebody is told of it, for a restart would bring deleted records back.

Read next: log_directories.py, which has the files.
"""

from __future__ import annotations

from andiron.broker.replicas.hosted_partitions import HostedPartitions
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.log.checkpoints import LOG_STARTS, RECOVERY_POINTS, WATERMARKS


class Checkpoints:
    """Writes down how far each log has come and where it starts, where that has changed."""

    def __init__(self, directories: LogDirectories, partitions: HostedPartitions) -> None:
        self._directories, self._partitions = directories, partitions

    def save_all(self) -> None:
        """Write all three."""
        self.save_ends()
        self.save_watermarks()
        self.save_starts()

    def save_ends(self) -> None:
        """Write down how far each log is on the disk."""
        ends = {each.name: each.log.flushed_end for each in self._partitions.values()}
        self._directories.save(RECOVERY_POINTS, ends, self._partitions.unopened)

    def save_watermarks(self) -> None:
        """Write down each high watermark."""
        watermarks = {each.name: each.watermark for each in self._partitions.values()}
        self._directories.save(WATERMARKS, watermarks, self._partitions.unopened)

    def save_starts(self) -> None:
        """Write down where each log starts: nobody is told that records are deleted, client or leader, before this is
        done."""
        # Whole segments that are gone count too: a power loss may bring their files back.
        starts = {each.name: each.log.start for each in self._partitions.values() if each.log.start > 0}
        self._directories.save(LOG_STARTS, starts, self._partitions.unopened)
