"""A clean stop: what many logs have written is brought to the disk side by side, so that a start can trust them.

    each log    snapshot, indexes and leader epochs are written ─┐
    all         ◀── files synced ────────────────────────────────┘
    each log    the leader epochs take their name ───────────────┐
    all         ◀── directories synced ──────────────────────────┘
    each log    descriptors are given back

A log alone waits four to eight times for the disk, and a node has thousands of them. Until the node leaves its mark
of a clean stop (directory.py) nothing of this is trusted, so the order among the logs does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from andiron.log.disk import Disk
from andiron.log.layout import DRAFT
from andiron.log.storage import storage, storage_error
from andiron.model.errors import ProtocolError

if TYPE_CHECKING:
    from andiron.log.flush_state import UnsyncedFiles
    from andiron.log.partition_log import PartitionLog


class CleanShutdown:
    """The logs of a node that stops, brought to the disk together."""

    def __init__(self, disk: Disk, logs: Iterable[PartitionLog]) -> None:
        self._disk, self._logs = disk, list(logs)
        self.failed: dict[PartitionLog, ProtocolError] = {}
        self._unsynced: dict[PartitionLog, UnsyncedFiles] = {}

    def close(self) -> None:
        """Bring them there; `failed` has those that did not get there. None of them may be used any more."""
        for log in self._logs:
            try:
                unsynced = log.settle()
            except ProtocolError as error:
                self.failed[log] = error
                continue
            if unsynced is not None:
                self._unsynced[log] = unsynced
        self._sync_files()
        self._sync_names()
        for log in self._logs:
            if log not in self.failed:
                log.release()

    def _sync_files(self) -> None:
        refused = self._disk.sync_all([file for each in self._unsynced.values() for file in each.files], ())
        for log, unsynced in self._unsynced.items():
            self._note(log, refused, [file.path for file in unsynced.files])
            if unsynced.draft is not None and log not in self.failed:
                path = unsynced.draft.path
                try:
                    with storage(log.partition):
                        self._disk.rename(path, path.removesuffix(DRAFT))
                except ProtocolError as error:
                    self.failed[log] = error

    def _sync_names(self) -> None:
        folders = [folder for each in self._unsynced.values() for folder in each.directories]
        refused = self._disk.sync_all((), dict.fromkeys(folders))
        for log, unsynced in self._unsynced.items():
            self._note(log, refused, unsynced.directories)

    def _note(self, log: PartitionLog, refused: dict[str, OSError], paths: list[str]) -> None:
        found = next((refused[path] for path in paths if path in refused), None)
        if found is not None:
            self.failed.setdefault(log, storage_error(log.partition, found))


def close_alone(disk: Disk, log: PartitionLog) -> None:
    """Bring one log to the disk, or raise KAFKA_STORAGE_ERROR."""
    closing = CleanShutdown(disk, [log])
    closing.close()
    if closing.failed:
        raise closing.failed[log]
