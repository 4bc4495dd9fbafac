"""Snapshots of the metadata are cut, and the log that they stand for is given up (KIP-630).

    so many bytes committed, or so long ago ─▶ a view of the image ─▶ .part, a few batches a turn ─▶ fsync ─▶ rename
                                                                                                             │
    segments and snapshots that are too old, or too many, go ◀───────────────────────────────────────────────┘

Every node cuts its own, of what is committed. It is written a little at a time, so that nobody waits for it; the
image goes on meanwhile, so what is written is a copy of its tables, taken at once: the values in them never change.

With each cut a segment of the log begins. So it lies between two cuts, and can go whole when the later one stays.

Read next: snapshot_files.py; quorum/snapshot_table.py for which go.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.node.patience import SNAPSHOT_RETRY_MS
from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.controller.image import Image
from andiron.controller.image_writer import copy_of, records_of
from andiron.controller.records import encode_record
from andiron.log.disk import File
from andiron.model.errors import ProtocolError
from andiron.model.ids import NEVER, Millis, Offset, wall_time
from andiron.model.invariant import invariant
from andiron.model.line import Line
from andiron.quorum.records import ControlRecord
from andiron.quorum.settings import MetadataLogSettings
from andiron.quorum.snapshot_format import SnapshotId, batches_of

BATCHES_A_TURN = 2

log = logging.getLogger(__name__)


class ImageView(NamedTuple):
    """What is committed at one moment. Nobody changes it any more."""

    id: SnapshotId
    image: Image
    timestamp: Millis  # of the last record
    about: Sequence[ControlRecord] = ()  # the quorum, where that is not in the settings


class _SnapshotWriting(NamedTuple):
    """A snapshot that is being written."""

    view: ImageView
    file: File
    batches: Iterator[bytearray]
    bytes_before: int


class SnapshotGenerator:
    """Cuts snapshots when they are due, and cleans up behind them."""

    def __init__(
        self,
        settings: MetadataLogSettings,
        raft: RaftClient,
        image: Image,
        flush_queue: FlushQueue,
        now: Millis,
    ) -> None:
        self._settings, self._image, self._flush_queue = settings, image, flush_queue
        self._files, self._voters = raft.snapshots, raft.voters
        self._partition, self._log = raft.partition, raft.partition.log
        self._bytes = 0  # committed since the last cut
        self._since = now
        self._not_before = Millis(0)
        self._cut: _SnapshotWriting | None = None
        self._turn_at = NEVER

    def committed(self, size: int) -> None:
        """So many bytes more of the log are committed."""
        self._bytes += size

    def start_anew(self, now: Millis) -> None:
        """A snapshot of the leader's has come: what is being written here is out of date."""
        if self._cut is not None:
            self._files.abandon(self._cut.view.id)
        self._cut, self._turn_at, self._bytes, self._since = None, NEVER, 0, now

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        due = self._turn_at if self._cut is not None else self._due()
        return min(due, self._log.segments.next_removal())

    def tick(self, applied: Offset, timestamp: Millis, now: Millis) -> None:
        """Do what is due: begin one, write on, or remove what was given up. The image is as of the offset `applied`, up
        to which the last record is of `timestamp`."""
        try:
            for path in self._log.segments.due_removals(now):
                self._files.disk.remove(path)
            if self._cut is not None and self._turn_at <= now:
                self._write(self._cut, now)
            elif self._cut is None and self._due() <= now:
                self._begin(applied, timestamp, now)
        except (OSError, ProtocolError) as error:
            self._fail(error, now)

    def _due(self) -> Millis:
        if not self._bytes or self._image.transaction.is_open:
            return NEVER  # inside a transaction there is no view
        if self._bytes >= self._settings.metadata_log_max_record_bytes_between_snapshots:
            return self._not_before
        interval_ms = self._settings.metadata_log_max_snapshot_interval_ms
        return max(self._not_before, Millis(self._since + interval_ms)) if interval_ms else NEVER

    # ── cutting ──────────────────────────────────────────────────────────────────────

    def _begin(self, applied: Offset, timestamp: Millis, now: Millis) -> None:
        self._log.roll_if_due(now, at_once=True)
        view, self._since, before = self._view(applied, timestamp), now, self._bytes
        values = (encode_record(record) for record in records_of(view.image))
        batches = batches_of(view.id, view.timestamp, values, view.about)
        self._cut, self._turn_at = _SnapshotWriting(view, self._files.begin(view.id), batches, before), now
        self._bytes = 0

    def _view(self, applied: Offset, timestamp: Millis) -> ImageView:
        known = max(self._partition.watermark, self._files.table.committed)
        invariant(applied <= known, "a snapshot is of what is committed", applied, known)
        id = SnapshotId(applied, self._log.epochs.epoch_of(applied - 1))
        return ImageView(id, copy_of(self._image), timestamp, self._voters.history.about(applied))

    def _write(self, cut: _SnapshotWriting, now: Millis) -> None:
        for _ in range(BATCHES_A_TURN):
            batch = next(cut.batches, None)
            if batch is None:
                self._turn_at = NEVER
                self._flush_queue.sync(cut.file, lambda error, now: self._synced(cut, error, now))
                return
            cut.file.append(batch)
        self._turn_at = now

    def _synced(self, cut: _SnapshotWriting, error: str | None, now: Millis) -> None:
        if self._cut is not cut:
            return
        try:
            if error is not None:
                raise OSError(error)
            self._files.finish(cut.view.id, cut.file, cut.view.timestamp)
            self._cut = None
            log.info(
                Line("Metadata snapshot {snapshot} is written", snapshot=cut.view.id, bytes=cut.file.size)
            )
            self._clean(now)
        except (OSError, ProtocolError) as trouble:
            self._fail(trouble, now)

    def _fail(self, error: Exception, now: Millis) -> None:
        log.error(Line(
            "Metadata snapshot cannot be written, and the metadata log grows; tried again; check the disk",
            error=error,
        ))  # fmt: skip
        if self._cut is not None:
            self._files.abandon(self._cut.view.id)
            self._bytes += self._cut.bytes_before
        self._cut, self._turn_at, self._not_before = None, NEVER, Millis(now + SNAPSHOT_RETRY_MS)

    # ── cleaning up ──────────────────────────────────────────────────────────────────

    def _clean(self, now: Millis) -> None:
        kept = self._files.table.keep_from(self._settings, self._log.start, self._bytes_from, wall_time(now))
        if kept is not None:
            self._log.advance_start(kept.end)
            self._log.delete_old(now, kept.end)
            self._files.drop_before(kept.end)

    def _bytes_from(self, start: Offset) -> int:
        return sum(segment.size for segment in self._log.segments.holding(start))
