"""A segment: a .log of batches in offset order, and the indexes that find a place in it.

    base                                                            next segment's base
    │ batch │ batch │ batch │ … │ batch │ batch │                   │
            ▲ index entry       ▲ index entry   ▲ size: appends go here

To read at an offset: the index gives the nearest batch before it, and from there the headers are
walked, payloads untouched. A reader that goes on where it stopped, or asks again, does not even need
that: the segment remembers where recent reads began and ended (`_marks`), so the next fetch of each
consumer finds its position in one look. Reads give FileSlices of whole batches.

Nothing here knows of other segments, leaders or producers, so compaction, recovery and the dump
tool use segments by themselves:

    Segment.open(disk, directory, base, settings)             one that is there
    Segment.create(disk, directory, base, settings, now)      a new one, empty
    segment.batches() · .append(data, last_offset, max_timestamp, now) · .seal() · .close()

The law: the .log is the truth and the indexes are hints about it. They are made anew from the log
whenever they are missing or seen to be wrong, and never the other way round.

Read next: indexes.py and scan.py, of which it is made; then partition_log.py.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator, Mapping

from andiron.log import layout, scan
from andiron.log.disk import Buffer, Disk, File, FileSlice
from andiron.log.indexes import SegmentIndexes
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, NO_TIMESTAMP, Millis, wall_time
from andiron.model.line import Line
from andiron.records.batch import Batch

RELATIVE_OFFSET_MAX = (1 << 31) - 1

_MARKS_MAX = 16  # readers of one segment whose places are remembered
_LOOK_CLOSER = -2  # below every timestamp, so that the next append asks `is_due`

_log = logging.getLogger(__name__)


class Segment:
    """One .log with its indexes."""

    __slots__ = (
        "_checked", "_directory", "_disk", "_file", "_first_timestamp", "_index_bytes_max", "_indexes",
        "_marks", "_rebuilt", "_roll_ms", "_state", "base", "created", "roll_at", "size", "written",
    )  # fmt: skip

    def __init__(
        self, disk: Disk, directory: str, base: int, settings: LogSettings, *, sizes: Mapping[str, int],
        state: str = "",
    ) -> None:  # fmt: skip
        """Use `open` or `create`. `sizes` is what the directory's listing says of the files."""
        self._disk, self._directory, self.base, self._state = disk, directory, base, state
        self.created: int = NO_TIMESTAMP
        self.written: int = NO_TIMESTAMP  # when the last batch without timestamps came
        self.size = sizes.get(layout.file_name(base, layout.LOG, state), 0)
        self._file: File | None = None
        self._indexes = SegmentIndexes(disk, directory, base, sizes=sizes, state=state)
        self._checked = self._rebuilt = False  # whether the indexes have been looked at, and made anew
        self._first_timestamp: int | None = None  # not read yet
        self._marks: dict[int, int] = {}  # offset → position, where reads began and ended of late
        self.roll_at: int = NEVER  # a later timestamp asks `is_due`
        self.take_settings(settings)

    @classmethod
    def open(
        cls, disk: Disk, directory: str, base: int, settings: LogSettings, *,
        sizes: Mapping[str, int] | None = None, state: str = "",
    ) -> Segment:  # fmt: skip
        """A segment that is there; no file of it is touched before it is used."""
        sizes = disk.names(directory) if sizes is None else sizes
        return cls(disk, directory, base, settings, sizes=sizes, state=state)

    @classmethod
    def create(
        cls, disk: Disk, directory: str, base: int, settings: LogSettings, now: int, *, state: str = ""
    ) -> Segment:
        """A new, empty one; what is left of another of that name is emptied."""
        segment = cls(disk, directory, base, settings, sizes={}, state=state)
        segment.created = now
        segment.file.truncate(0)
        segment.forget_indexes()
        return segment

    # ── what it is ───────────────────────────────────────────────────────────────────

    @property
    def path(self) -> str:
        return f"{self._directory}/{layout.file_name(self.base, layout.LOG, self._state)}"

    @property
    def file(self) -> File:
        """The .log itself."""
        if self._file is None:
            self._file = self._disk.open(self.path)
        return self._file

    @property
    def indexes(self) -> SegmentIndexes:
        """The indexes, looked at before their first use and made anew if they cannot be right."""
        if not self._checked:
            complaint = self._indexes.complaint(self.size)
            if not len(self._indexes.times) and not self._rebuilt and self.first_timestamp >= 0:
                complaint = "the time index does not say when the segment ends"
            if complaint is None:
                self._indexes.load(self.size)
                self._checked = True
            else:
                self._distrust_indexes(ErrorCode.CORRUPT_MESSAGE.error(complaint))
        return self._indexes

    @property
    def has_aborts(self) -> bool:
        """Whether a transaction was aborted in it."""
        return len(self._indexes.aborts) > 0

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp in it; where its records have none, when they came; or it was opened."""
        largest = self.indexes.max_timestamp
        return largest if largest >= 0 else max(self.created, self.written)

    @property
    def first_timestamp(self) -> int:
        """The time of its first batch, from which on segment.ms counts; -1 if there is none."""
        if self._first_timestamp is None:
            first = next(self.headers(), None)
            self._first_timestamp = NO_TIMESTAMP if first is None else first[1].max_timestamp
        return self._first_timestamp

    def __repr__(self) -> str:
        return f"Segment({self.path}, {self.size} bytes)"

    # ── writing ──────────────────────────────────────────────────────────────────────

    def append(self, data: Buffer, last_offset: int, max_timestamp: int, now: Millis = NO_TIMESTAMP) -> None:
        """Add one batch. OSError if the disk refuses, and then nothing has changed."""
        (self._file or self.file).append(data)
        self._note(len(data), last_offset, max_timestamp, now)

    def append_run(
        self, data: Buffer, batches: Iterable[tuple[int, int, int]], now: Millis = NO_TIMESTAMP
    ) -> None:
        """Add several with one write; each is given as (size, last offset, max timestamp)."""
        self.file.append(data)
        for size, last_offset, max_timestamp in batches:
            self._note(size, last_offset, max_timestamp, now)

    def note_batch(self, batch: Batch) -> None:
        """Count in the next batch of the file, after `forget_indexes`."""
        self._note(batch.size, batch.last_offset, batch.max_timestamp)

    def is_due(self, size: int, last_offset: int, max_timestamp: int, now: int, segment_bytes: int) -> bool:
        """Must a new segment begin before this batch?"""
        if not self.size:
            return last_offset - self.base > RELATIVE_OFFSET_MAX
        first = self.first_timestamp
        waited = max_timestamp - first if first >= 0 else now - self.created
        full = self._indexes.is_full(self._index_bytes_max)
        self.roll_at = first + self._roll_ms if first >= 0 and not full else _LOOK_CLOSER
        return (
            full
            or self.size + size > segment_bytes
            or waited > self._roll_ms
            or last_offset - self.base > RELATIVE_OFFSET_MAX
        )

    def take_settings(self, settings: LogSettings) -> None:
        """Live by these from now on."""
        self._indexes.interval = settings.index_interval_bytes
        self._index_bytes_max = settings.segment_index_bytes
        roll_ms = settings.segment_ms
        if "compact" in settings.cleanup_policy:
            roll_ms = min(roll_ms, settings.max_compaction_lag_ms)  # an active segment is not compacted
        jitter_ms_max = min(settings.segment_jitter_ms, roll_ms)
        name = f"{self._directory.rpartition('/')[2]}/{self.base}"
        jitter_ms = zlib.crc32(name.encode()) % jitter_ms_max if jitter_ms_max > 0 else 0
        self._roll_ms = roll_ms - jitter_ms
        self.roll_at = _LOOK_CLOSER if self.size else NEVER

    # ── reading ──────────────────────────────────────────────────────────────────────

    def position_of(self, offset: int) -> int:
        """Where the first batch begins that ends at `offset` or later; the size if there is none."""
        if offset <= self.base:
            return 0
        position = self._marks.get(offset)
        if position is not None:
            return position
        try:
            position = scan.walk_to(self.file, offset, self.indexes.offsets.lookup(offset), self.size)
        except ProtocolError as error:
            self._distrust_indexes(error)
            position = scan.walk_to(self.file, offset, self._indexes.offsets.lookup(offset), self.size)
        if position < self.size:
            self._mark(offset, position)
        return position

    def read(
        self, offset: int, max_bytes: int, upto: int, end: int, *, at_least_one: bool
    ) -> FileSlice | None:
        """Whole batches from `offset` on and below `upto`; None if there are none.

        `end` is where this segment's offsets end. Of a first batch larger than `max_bytes` comes all or,
        without `at_least_one`, nothing.
        """
        start = self.position_of(offset)
        target = start + max_bytes
        if target < self.size:
            boundary, next_offset = self._boundary_upto(target)
            if boundary > start and next_offset <= upto:
                return self._slice(start, boundary, next_offset)
        limit = self.size if upto >= end else self.position_of(upto)
        if limit <= start:
            return None
        if limit <= target:
            return self._slice(start, limit, upto if upto < end else end)
        stop = scan.last_end(self.file, start, target, first=at_least_one)
        if stop == start:
            return None
        return self._slice(start, stop, scan.place_at(self.file, stop)[0] if stop < self.size else end)

    def headers(self, position: int = 0) -> Iterator[tuple[int, Batch]]:
        """Each batch from `position` on, with its position; see scan.py."""
        return scan.headers(self.file, position, self.size)

    def batches(self, position: int = 0) -> Iterator[Batch]:
        """Each batch from `position` on, whole; see scan.py."""
        return scan.batches(self.file, position, self.size)

    def position_for_time(self, timestamp: int, start: int) -> int:
        """Where to begin looking for the first batch that is as late as `timestamp`, at `start` or later."""
        return self.position_of(max(self.indexes.times.lookup(timestamp), start))

    # ── its indexes and its end ──────────────────────────────────────────────────────────────────────

    def lacks_index(self, sizes: Mapping[str, int]) -> bool:
        """Is an index missing that should be there, by the listing of its directory?"""
        kinds = (layout.INDEX, layout.TIME_INDEX)
        return self.size > 0 and any(
            layout.file_name(self.base, kind, self._state) not in sizes for kind in kinds
        )

    def next_offset(self) -> int:
        """Where its batches end; reads no more than the last index interval.

        CORRUPT_MESSAGE if the indexes do not fit the log or it does not end with a whole batch.
        """
        return max((batch.next_offset for batch in self._tail()), default=self.base)

    def load_tail(self) -> int:
        """Make ready for appending to it; returns the next offset, or fails, as `next_offset` does."""
        end, indexes = self.base, self._indexes
        indexes.load(self.size)
        for batch in self._tail():
            end = batch.next_offset
            if batch.max_timestamp > indexes.max_timestamp:
                indexes.max_timestamp, indexes.offset_of_max = batch.max_timestamp, batch.last_offset
        self._checked = True
        return end

    def truncate_to(self, offset: int) -> int:
        """Cut before the batch that holds `offset`; returns where the segment now ends."""
        position = self.position_of(offset)
        if position < self.size:
            offset = min(offset, scan.place_at(self.file, position)[0])
        self.indexes.truncate_to(offset)
        self.cut(position)
        self.load_tail()
        return max(offset, self.base)

    def cut(self, position: int) -> None:
        """Drop the bytes from `position` on; the indexes are for the caller to mend."""
        self.file.truncate(position)
        self.size = position
        self._marks.clear()
        self._first_timestamp = None
        self.roll_at = _LOOK_CLOSER if position else NEVER

    def forget_indexes(self) -> None:
        """Empty the indexes, and take the segment for empty until `note_batch` tells of its batches."""
        self._indexes.clear()
        self.size = 0
        self._checked = True
        self._marks.clear()
        self._first_timestamp = None
        self.roll_at = NEVER

    def rebuild_indexes(self) -> None:
        """Make offset and time index anew from the .log. Aborts are not to be had from it alone, and stay."""
        aborts = [] if self._indexes.aborts.is_torn else list(self._indexes.aborts.entries())
        end = self.size
        self.forget_indexes()
        try:
            for _, batch in scan.headers(self.file, 0, end):
                self.note_batch(batch)
        finally:
            self.size = end
            for aborted in aborts:
                self._indexes.aborts.append(aborted)
            self._indexes.seal()
            for file in self._indexes.files():
                file.sync()  # it may lie below the recovery point, where nobody would do it later

    def seal(self) -> None:
        """Nothing more will be appended: bring the indexes into their files."""
        self.indexes.seal()

    def write_indexes(self) -> list[File]:
        """Bring the indexes of an active segment into their files; returns those that were written to."""
        return self._indexes.write()

    def close(self) -> None:
        """Write the indexes and give the descriptors back; everything can be used again."""
        self._indexes.close()
        if self._file is not None:
            self._file.close()

    def files(self) -> list[File]:
        """What must reach the disk for a sealed segment to be safe there."""
        return [self.file, *self._indexes.files()]

    def rename(self, state: str) -> list[str]:
        """Move its files to another state; returns their new paths."""
        paths = []
        for kind in layout.SEGMENT_FILES:
            old, new = (
                f"{self._directory}/{layout.file_name(self.base, kind, s)}" for s in (self._state, state)
            )
            try:
                self._disk.rename(old, new)
                paths.append(new)
            except FileNotFoundError:
                if kind == layout.LOG:
                    raise
        self._state = state
        for kind, index in zip(layout.SEGMENT_FILES[1:], self._indexes.all(), strict=True):
            index.path = f"{self._directory}/{layout.file_name(self.base, kind, state)}"
        return paths

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _note(self, size: int, last_offset: int, max_timestamp: int, now: Millis = NO_TIMESTAMP) -> None:
        position = self.size
        self.size = position + size
        entered = self._indexes.note(position, size, last_offset, max_timestamp)
        if entered and self._indexes.is_full(self._index_bytes_max):
            self.roll_at = _LOOK_CLOSER
        if max_timestamp < 0:
            self.written = max(self.written, wall_time(now))
        if not position:
            self._first_timestamp = max_timestamp
            self.roll_at = max_timestamp + self._roll_ms if max_timestamp >= 0 else _LOOK_CLOSER

    def _tail(self) -> Iterator[Batch]:
        """The batches from the last indexed one on."""
        complaint = self._indexes.complaint(self.size)
        if complaint is not None:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"{complaint} in {self.path}")
        indexed, position = self._indexes.offsets.last()
        return scan.tail(self.file, position, self.size, after=self.base - 1, upto=indexed)

    def _slice(self, start: int, stop: int, next_offset: int) -> FileSlice:
        """A read, and a mark where its reader will go on."""
        self._mark(next_offset, stop)
        return FileSlice(self.file, start, stop - start, next_offset)

    def _mark(self, offset: int, position: int) -> None:
        marks = self._marks
        if len(marks) >= _MARKS_MAX:
            del marks[next(iter(marks))]
        marks[offset] = position

    def _boundary_upto(self, target: int) -> tuple[int, int]:
        """The last indexed batch that begins at or before `target`: where, and its base offset."""
        position = self.indexes.offsets.boundary_upto(target)
        try:
            return position, scan.place_at(self.file, position)[0]
        except ProtocolError as error:
            self._distrust_indexes(error)
        position = self._indexes.offsets.boundary_upto(target)
        return position, scan.place_at(self.file, position)[0]

    def _distrust_indexes(self, error: ProtocolError) -> None:
        """Something was not where an index said. Once, that is the index's fault; then the log's."""
        if self._rebuilt:
            raise error
        self._rebuilt = True
        _log.warning(
            Line("Indexes of segment {file} are wrong and are rebuilt", file=self.path, error=error.detail)
        )
        self.rebuild_indexes()
