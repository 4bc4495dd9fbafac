"""The start of a log: what a stop or a crash may have left, and how it is made whole.

After a clean stop everything below is trusted: the end is found behind the last index entry, the
producers in the newest snapshot. That is a few small reads, however large the log.

After a crash the segments from the recovery point on are scanned, every batch against its checksum,
and so is the one that holds the last record below it: that may have been sealed since.

    │ sealed │ sealed │ sealed      │ active         ✂
    └ trusted ────────┴ recovery point ── scanned ───┘ first batch that is not whole, out of turn or damaged

The scan builds the indexes and the producers' state anew, for none of what was in memory may have reached
their files, and holds the leader epochs against the batches: their file may not have heard of the last
ones, and is the only one to know of those that compaction left no batch of. At the first batch that does
not hold the log ends: what follows was never flushed, and a log is a prefix of what was appended or it is
nothing. So segments after a cut are given up, as are those after a gap, unless compaction, which makes
gaps, may have made it.

What was done is told in notices: one line each, for the node's log.

Read next: transitions.py for files caught halfway, partition_log.py for what comes after.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from andiron.log import layout, scan, transitions
from andiron.log.checkpoints import CheckpointError, LogCheckpoint
from andiron.log.disk import Disk, LogFolder
from andiron.log.leader_epochs import LeaderEpochs
from andiron.log.producer_snapshots import ProducerSnapshots
from andiron.log.producers import Producers
from andiron.log.segment import RELATIVE_OFFSET_MAX, Segment
from andiron.log.segments import Segments
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_EPOCH, LeaderEpoch, Millis, Offset
from andiron.records.batch import CONTROL, Batch

_OLD_HEADER = Struct(">qiI")  # offset, size and CRC-32 of a message of the formats before batches


class LoadedLog(NamedTuple):
    """The segments, leader epochs and producers of a log that was recovered, with its offsets."""

    segments: Segments
    epochs: LeaderEpochs
    producers: Producers
    start: Offset
    end: Offset
    flushed_end: Offset


def load(
    folder: LogFolder,
    settings: LogSettings,
    checkpoint: LogCheckpoint,
    *,
    now: Millis,
    sizes: dict[str, int],
    notices: list[str],
) -> LoadedLog:
    """Open what is in a folder, whose listing is `sizes`."""
    disk, directory = folder
    recovery_point, log_start, clean = checkpoint
    sizes = transitions.finish(disk, directory, sizes, settings, notices)
    files = [file for file in map(layout.parse_file_name, sizes) if file is not None and not file.state]
    bases = sorted(file.base for file in files if file.kind == layout.LOG)
    known = set(bases)
    for file in files:
        if file.base not in known and file.kind != layout.SNAPSHOT:
            notices.append(f"{directory}/{file} removed: it has no log")
            disk.remove(f"{directory}/{file}")
    segments = Segments(
        disk,
        directory,
        [Segment.open(disk, directory, base, settings, sizes=sizes) for base in bases]
        or [Segment.create(disk, directory, log_start, settings, now)],
        ProducerSnapshots(disk, directory, (file.base for file in files if file.kind == layout.SNAPSHOT)),
    )
    epochs = _load_epochs(disk, directory, sizes, notices)
    opening = _Opening(folder, segments, epochs, settings, now, notices)
    end = opening.trust(sizes) if clean else None
    if end is None:
        end = opening.recover(recovery_point, sizes)
    for segment in segments:
        segment.created = now  # what a listing of the disk does not tell
    start = max(log_start, segments[0].base)
    if start > end:
        notices.append(f"{directory} starts anew at {start}: it ended at {end}, below its start")
        segments.restart(start, end, settings, now)
        opening.producers, end = Producers(), start
    epochs.truncate_end(end)
    epochs.truncate_start(start)
    segments.snapshots.keep(segments.bases, end)
    flushed_end = end if opening.trusted else min(recovery_point, end)
    return LoadedLog(segments, epochs, opening.producers, Offset(start), Offset(end), Offset(flushed_end))


def replay_producers(segments: Segments, upto: int, notices: list[str], *, clean: bool = False) -> Producers:
    """The producers as of `upto`: the newest snapshot that can be used, and the log from there.

    A log that was closed without ever taking a snapshot has none to tell of.
    """
    found = segments.snapshots.load(upto, notices)
    if found is None and clean:
        return Producers()
    offset, producers = found or (segments[0].base, Producers())
    if offset < upto:
        for segment in segments.holding(offset):
            if segment.base < upto:
                _replay(segment, producers, offset, upto)
    return producers


def _replay(segment: Segment, producers: Producers, offset: int, upto: int) -> None:
    for position, batch in segment.headers(segment.position_of(offset)):
        if batch.base_offset >= upto:
            return
        if batch.producer_id >= 0:
            if batch.attributes & CONTROL:
                batch = Batch(segment.file.read(position, batch.size))
            producers.replay(batch, batch.base_offset, batch.max_timestamp)


def _load_epochs(disk: Disk, directory: str, sizes: dict[str, int], notices: list[str]) -> LeaderEpochs:
    if layout.LEADER_EPOCHS in sizes:
        try:
            return LeaderEpochs.decode(disk.read_file(f"{directory}/{layout.LEADER_EPOCHS}"))
        except CheckpointError as error:
            notices.append(f"{directory}/{layout.LEADER_EPOCHS} is taken as absent: {error}")
    return LeaderEpochs()


class _Opening:
    """A log on its way from its files into memory."""

    def __init__(
        self,
        folder: LogFolder,
        segments: Segments,
        epochs: LeaderEpochs,
        settings: LogSettings,
        now: Millis,
        notices: list[str],
    ) -> None:
        self._disk, self._directory = folder
        self._segments, self._epochs = segments, epochs
        self._settings, self._now, self._notices = settings, now, notices
        self.producers = Producers()
        self.trusted = False
        self._epoch = NO_EPOCH  # of the last batch before the one that is looked at

    def trust(self, sizes: dict[str, int]) -> int | None:
        """Open after a clean stop; returns the end, or None if it was not as clean as it is said to be."""
        try:
            self._make_missing_indexes(self._segments, sizes)
            end = self._segments.active.load_tail()
            self.producers = replay_producers(self._segments, end, self._notices, clean=True)
        except ProtocolError as error:
            self._notices.append(f"recovering in spite of a clean stop: {error.detail}")
            return None
        self.trusted = True
        return end

    def recover(self, recovery_point: int, sizes: dict[str, int]) -> int:
        """Open after a crash; returns the end."""
        segments = self._segments
        unflushed = first = segments.number_of(recovery_point - 1)
        while first and not self._ends_well(first - 1):
            first -= 1
        self._make_missing_indexes(segments[:first], sizes)
        end = segments[first].base
        self._epoch = self._epochs.epoch_of(end - 1)
        segments.snapshots.keep(segments.bases, end)  # later ones may never have reached the disk
        self.producers = replay_producers(segments, end, self._notices)
        for number in range(first, len(segments)):
            segment = segments[number]
            if number > unflushed and segment.base != end and not self._may_have_gap(end, segment):
                self._give_up(number, f"{segment.path} does not begin at {end}, where the one before it ends")
                break
            end, trouble = self._scan(segment)
            if trouble is not None:
                self._notices.append(f"{segment.path} cut at byte {segment.size}, offset {end}: {trouble}")
                # In this order: a start that is interrupted in between must find the damage again.
                self._give_up(number + 1, f"it comes after the cut at {end}")
                segment.cut(segment.size)
                segment.file.sync()  # or else a power loss brings the tail back, before whatever follows
                break
            if number + 1 < len(segments):
                segment.seal()
                snapshot = segments.snapshots.take(self.producers, segments[number + 1].base)
                for file in (snapshot, *segment.indexes.files()):
                    file.sync()  # some lie below the recovery point, where nobody would do it later
        return end

    def _make_missing_indexes(self, segments: Sequence[Segment], sizes: dict[str, int]) -> None:
        for segment in segments:
            if segment.lacks_index(sizes):
                self._notices.append(f"{segment.path} lacks an index: making it anew")
                segment.rebuild_indexes()

    def _ends_well(self, number: int) -> bool:
        """Does a segment that should be on the disk look as if it were?"""
        try:
            return self._segments[number].next_offset() <= self._segments[number + 1].base
        except ProtocolError:
            return False

    def _may_have_gap(self, end: int, segment: Segment) -> bool:
        return "compact" in self._settings.cleanup_policy and end < segment.base

    def _give_up(self, number: int, reason: str) -> None:
        gone = self._segments[number:]
        self._notices.extend(f"{segment.path} given up: {reason}" for segment in gone)
        self._segments.give_up(gone, Millis(self._now + self._settings.file_delete_delay_ms))
        if gone:
            self._disk.sync_directory(self._directory)  # a power loss could bring them back, behind a gap

    def _scan(self, segment: Segment) -> tuple[int, str | None]:
        """Count in all batches that hold; returns the end, and what is wrong with the one after them."""
        size, end = segment.size, segment.base
        trouble: str | None = None
        segment.forget_indexes()
        try:
            for batch in scan.batches(segment.file, 0, size):
                trouble = self._trouble(segment, batch, end)
                if trouble is not None:
                    break
                segment.note_batch(batch)
                end = batch.next_offset
                self._learn(segment, batch)
        except ProtocolError as error:
            self._refuse_old_format(segment, size)
            trouble = error.detail
        return end, trouble

    def _trouble(self, segment: Segment, batch: Batch, end: int) -> str | None:
        """What is wrong with a batch that should begin at `end` or later."""
        if not end <= batch.base_offset <= batch.last_offset <= segment.base + RELATIVE_OFFSET_MAX:
            return f"{batch} does not follow {end}"
        if not batch.is_intact():
            return f"{batch} fails its checksum"
        if 0 <= batch.leader_epoch < self._epoch:
            return f"{batch} is older than epoch {self._epoch} before it"
        return None

    def _learn(self, segment: Segment, batch: Batch) -> None:
        self._epoch = max(self._epoch, LeaderEpoch(batch.leader_epoch))
        self._epochs.confirm(batch.leader_epoch, batch.base_offset, batch.last_offset)
        if batch.producer_id >= 0:
            aborted = self.producers.replay(batch, batch.base_offset, batch.max_timestamp)
            if aborted is not None:
                segment.indexes.aborts.append(aborted)

    @staticmethod
    def _refuse_old_format(segment: Segment, size: int) -> None:
        """A message of a format before batches is no damage: it must not be cut off."""
        head = segment.file.read(segment.size, min(size - segment.size, 1 << 20))
        if len(head) > _OLD_HEADER.size and head[_OLD_HEADER.size] in (0, 1):
            _, length, crc = _OLD_HEADER.unpack_from(head)
            if length > 4 and zlib.crc32(head[_OLD_HEADER.size : 12 + length]) == crc:
                raise ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT.error(
                    f"{segment.path} holds messages of a format before Kafka 0.11"
                )
