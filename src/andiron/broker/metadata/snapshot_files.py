"""The snapshots of the metadata on this node's disk.

    __cluster_metadata-0/
    ├── 00000000000000001234-0000000007.checkpoint           whole: it got this name when all of it was on the disk
    └── 00000000000000002345-0000000008.checkpoint.part      a start removes it

One that was damaged since is found out when it is read. It is passed over then, with a notice, and an older one serves;
its file stays, for whoever wants to look at it, until the snapshots of its time go.

Read next: quorum/snapshot_format.py for what is in one; snapshot_generator.py and snapshot_fetcher.py write them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from andiron.controller.image import Image
from andiron.controller.records import NoOpRecord, decode_record
from andiron.log import scan
from andiron.log.disk import Disk, File
from andiron.log.partition_log import PartitionLog
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.line import Line
from andiron.quorum.records import SnapshotHeaderRecord, VotersRecord
from andiron.quorum.snapshot_format import PART, Entry, SnapshotId, entries_of, parse_file_name
from andiron.quorum.snapshot_table import SnapshotTable, StoredSnapshot

log = logging.getLogger(__name__)


class UnsupportedMetadata(AndironError):
    """The metadata was written by something that knows more; the message says what, and what to do."""


class SnapshotFiles:
    """The files of a folder that are snapshots, and the table of those that can be used."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self.disk, self._directory = disk, directory
        self.table = SnapshotTable()

    def open(self) -> None:
        """Fill the table with the snapshots of the folder."""
        for name, size in self.disk.names(self._directory).items():
            found = parse_file_name(name)
            if found is None or found.is_part:
                continue
            try:
                header = next(self.entries(found.id))
                assert isinstance(header, SnapshotHeaderRecord)
                self.table.add(StoredSnapshot(found.id, size, Millis(header.last_contained_log_timestamp)))
            except (AndironError, OSError) as error:
                log.error(Line(
                    "Metadata snapshot {file} cannot be read and is skipped; check the disk",
                    file=name, error=error,
                ))  # fmt: skip

    def sweep(self) -> None:
        """Remove the snapshots that were never finished."""
        for name in list(self.disk.names(self._directory)):
            found = parse_file_name(name)
            if found is not None and found.is_part:
                self.disk.remove(f"{self._directory}/{name}")

    def newest(self) -> SnapshotReader | None:
        """The newest snapshot that can be read, read; those that are damaged leave the table. Raises
        UnsupportedMetadata if one is whole and says what is not known here: an older one would not do."""
        for id in reversed(list(self.table)):
            try:
                loading = SnapshotReader(self.entries(id), id, Image())
                while not loading.go_on():
                    pass
                return loading
            except (AndironError, OSError) as error:
                if isinstance(error, ProtocolError) and error.code is ErrorCode.UNSUPPORTED_VERSION:
                    raise UnsupportedMetadata(
                        f"{self._path(id)}: {error.detail}, which this version of Andiron does not understand; open "
                        "the folder with what wrote it. Nothing was changed"
                    ) from error
                log.error(Line(
                    "Metadata snapshot {file} cannot be read and is skipped; check the disk",
                    file=id.file_name, error=error,
                ))  # fmt: skip
                self.table.discard(id)
        return None

    # ── one ──────────────────────────────────────────────────────────────────────────

    def entries(self, id: SnapshotId, *, part: bool = False) -> Iterator[Entry]:
        """What is in a snapshot, read as it is asked for; raises where it is not whole."""
        file = self.disk.open(self._path(id) + (PART if part else ""))
        try:
            yield from entries_of(scan.batches(file, 0, file.size))
        finally:
            file.close()

    def read(self, id: SnapshotId, position: int, length: int) -> bytes:
        """A piece of one that is in the table."""
        file = self.disk.open(self._path(id))
        try:
            return file.read(position, length)
        finally:
            file.close()

    def begin(self, id: SnapshotId) -> File:
        """An empty file for a snapshot that is to be written."""
        file = self.disk.open(self._path(id) + PART)
        file.truncate(0)
        return file

    def finish(self, id: SnapshotId, file: File, timestamp: Millis) -> None:
        """Give a snapshot its name, all of which is written and synced: from now on it counts."""
        size = file.size
        self.disk.rename(self._path(id) + PART, self._path(id))
        self.disk.sync_directory(self._directory)
        file.close()
        self.table.add(StoredSnapshot(id, size, timestamp))

    def abandon(self, id: SnapshotId) -> None:
        """Remove what was written of a snapshot that will not be finished."""
        try:
            self.disk.remove(self._path(id) + PART)
        except OSError as error:
            log.warning(Line(
                "Metadata snapshot {file} is unfinished and stays until the next start",
                file=id.file_name, error=error,
            ))  # fmt: skip

    def drop_before(self, end: Offset) -> None:
        """Remove those that stand for less than `end`, whether they can be used or not."""
        try:
            for name in self.disk.names(self._directory):
                found = parse_file_name(name)
                if found is not None and not found.is_part and found.id.end < end:
                    self.table.discard(found.id)
                    self.disk.remove(f"{self._directory}/{name}")
        except OSError as error:
            log.warning(Line("Metadata snapshots that are outdated cannot be removed yet", error=error))

    def _path(self, id: SnapshotId) -> str:
        return f"{self._directory}/{id.file_name}"


class SnapshotReader:
    """A snapshot on its way into an image, some records at a time."""

    def __init__(self, entries: Iterator[Entry], id: SnapshotId, image: Image) -> None:
        self._entries, self.id, self.image = entries, id, image
        self.timestamp = Millis(0)  # of the last record that it stands for
        self.voters: VotersRecord | None = None  # where they are not those of the settings

    def go_on(self, count: int = 1000) -> bool:
        """Take in so many more; whether that was all. Raises if the snapshot is not whole."""
        last = Offset(self.id.end - 1)
        for _ in range(count):
            entry = next(self._entries, None)
            if entry is None:
                self.image.replay(NoOpRecord(), last)  # an image without records stands somewhere too
                return True
            if isinstance(entry, bytes):
                self.image.replay(decode_record(entry), last)
            elif isinstance(entry, SnapshotHeaderRecord):
                self.timestamp = Millis(entry.last_contained_log_timestamp)
            elif isinstance(entry, VotersRecord):
                self.voters = entry
        return False


def align_log_with_snapshots(held: PartitionLog, snapshots: SnapshotTable, now: Millis) -> None:
    """Let the log go on from the snapshots, as it was or was about to when the node went down."""
    newest = snapshots.newest
    if held.start > snapshots.committed:
        raise ErrorCode.KAFKA_STORAGE_ERROR.error(
            f"the metadata log in {held.directory} starts at {held.start}, and no snapshot that can be read goes so "
            "far; put the .checkpoint file back that is missing or damaged"
        )
    if newest is not None and (held.end < newest.end or _parts_from(held, newest)):
        held.restart_at(newest.end, now)
    first = snapshots.reaching(held.start)
    if held.start > 0 and first is not None:
        held.advance_start(first.end)


def _parts_from(held: PartitionLog, snapshot: SnapshotId) -> bool:
    """Whether the log has other records than those that the snapshot stands for: they never were committed."""
    return held.start < snapshot.end and held.epochs.epoch_of(snapshot.end - 1) != snapshot.epoch
