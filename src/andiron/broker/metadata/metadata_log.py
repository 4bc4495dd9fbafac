"""The metadata log as it lies on the disk: opened with all of it looked at, and what of it was flushed kept in mind.

    flushed-offset ─┐
    clean stop ─────┼─▶ what had been flushed ─▶ must hold, or a controller does not start (metadata_damage.py)
    snapshots ──────┘                            beyond it, recovery may cut a torn tail

Read next: raft_client.py, whose copy of the log it is.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace

from andiron.broker.metadata.metadata_compatibility import check_metadata_is_supported
from andiron.broker.metadata.metadata_damage import damaged, is_lost, missing
from andiron.broker.metadata.raft_requests import METADATA, TOPIC_ID
from andiron.broker.metadata.snapshot_files import SnapshotFiles
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.settings.node_settings import NodeSettings
from andiron.log.damage import find_damage
from andiron.log.disk import Disk, LogFolder
from andiron.log.flushed_mark import FlushedMark
from andiron.log.layout import LOG
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import Millis, Offset, TopicIdPartition
from andiron.model.line import Line
from andiron.quorum.snapshot_format import parse_file_name

LOG_SETTINGS = LogSettings(flush_messages=1, retention_ms=-1, retention_bytes=-1, max_message_bytes=8 << 20)

log = logging.getLogger(__name__)


class MetadataLog:
    """The files of `__cluster_metadata-0`."""

    def __init__(self, settings: NodeSettings, disk: Disk, directory: str) -> None:
        self._settings, self._disk, self._directory = settings, disk, directory
        self._mark = FlushedMark(disk, directory)

    def open(self, snapshots: SnapshotFiles, directories: LogDirectories, now: Millis) -> PartitionLog:
        """Open the log; raises, and changes nothing, where what was flushed is damaged or gone, or not understood.

        What the snapshots stand for is committed; after a clean stop all of the log had been flushed.
        """
        if "controller" in self._settings.roles:
            self._check_presence(directories)
            self._check(snapshots.table.committed, directories.clean)
        place = self._settings.metadata_log_dir
        check_metadata_is_supported(self._disk, place, self._directory, snapshots, self._mark.load())
        kept = self._settings.metadata_log
        settings = replace(
            LOG_SETTINGS,
            segment_bytes=kept.metadata_log_segment_bytes,
            segment_ms=kept.metadata_log_segment_ms,
        )
        held = PartitionLog.open(
            LogFolder(self._disk, self._directory), TopicIdPartition(TOPIC_ID, METADATA), settings, now=now
        )
        for notice in held.notices:
            log.warning(Line("Metadata log was repaired as it was opened", partition=METADATA, repair=notice))
        if self._mark.load() > held.end:
            self._mark.lower_to(held.end)
        held.on_cut = lambda cut: self._mark.lower_to(cut.flushed_end)
        return held

    def flushed(self, end: Offset) -> None:
        """Everything below `end` is on the disk. The note of it is a hint: a disk that will not take it is let be."""
        with contextlib.suppress(OSError):
            self._mark.raise_to(end)

    def _check(self, committed: Offset, clean: bool) -> None:
        flushed = self._mark.load()
        damage = find_damage(self._disk, self._directory, flushed if clean else Offset(0))
        upto = None if clean else Offset(max(flushed, committed))
        if damage is not None and is_lost(damage, upto, committed):
            raise damaged(damage, self._directory, self._settings)

    def _check_presence(self, directories: LogDirectories) -> None:
        """A node by itself that has partitions has metadata: in its log, or in a snapshot that stands for some of it,
        as the one that a new folder is given does not."""
        names = self._disk.names(self._directory)
        snapshots = [parsed.id for name in names if (parsed := parse_file_name(name)) and not parsed.is_part]
        has_log = any(size for name, size in names.items() if name.endswith(LOG))
        if has_log or any(each.end for each in snapshots) or not self._settings.is_alone:
            return
        if folders := directories.partitions:
            raise missing(self._directory, folders)
