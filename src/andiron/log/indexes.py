"""The three indexes of a segment, kept in step with its batches.

    batch appended ──▶ note ──▶ each index.interval.bytes: an entry in .index, and in .timeindex if time moved
    abort marker   ──▶ aborts.append ─────────────────────▶ an entry in .txnindex

A segment has one of these; it tells them of every batch that goes into its .log, when it is
appended and when the indexes are built anew. Between two entries they remember what the next one
will need: bytes since the last one, the largest timestamp and its offset.

Read next: segment.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from andiron.log import layout
from andiron.log.abort_index import AbortIndex
from andiron.log.disk import Disk, File
from andiron.log.entry_file import EntryFile
from andiron.log.offset_index import OffsetIndex
from andiron.log.time_index import TimeIndex
from andiron.model.ids import NO_TIMESTAMP


class SegmentIndexes:
    """Offset, time and abort index of one segment."""

    __slots__ = (
        "_base",
        "aborts",
        "bytes_since_entry",
        "interval",
        "max_timestamp",
        "offset_of_max",
        "offsets",
        "times",
    )

    def __init__(
        self, disk: Disk, directory: str, base: int, *, sizes: Mapping[str, int], state: str
    ) -> None:
        index, times, aborts = (layout.file_name(base, kind, state) for kind in layout.SEGMENT_FILES[1:])
        self.offsets = OffsetIndex(disk, f"{directory}/{index}", sizes.get(index, 0), base)
        self.times = TimeIndex(disk, f"{directory}/{times}", sizes.get(times, 0), base)
        self.aborts = AbortIndex(disk, f"{directory}/{aborts}", sizes.get(aborts, 0))
        self.interval = 0  # index.interval.bytes
        self._base = base
        self.bytes_since_entry = 0
        self.max_timestamp: int = NO_TIMESTAMP  # with the last offset of the first batch that has it
        self.offset_of_max = base

    def note(self, position: int, size: int, last_offset: int, max_timestamp: int) -> bool:
        """A batch of `size` bytes lies at `position`, where those noted before end. Was there an entry due?"""
        if max_timestamp > self.max_timestamp or not position:
            self.max_timestamp, self.offset_of_max = max(max_timestamp, NO_TIMESTAMP), last_offset
        if self.bytes_since_entry <= self.interval:
            self.bytes_since_entry += size
            return False
        self.offsets.append(last_offset, position)
        self.times.append_if_later(self.max_timestamp, self.offset_of_max)
        self.bytes_since_entry = size
        return True

    def load(self, log_size: int) -> None:
        """Take up where the files end."""
        self.max_timestamp, self.offset_of_max = self.times.last()
        self.bytes_since_entry = log_size - self.offsets.last()[1]

    def is_full(self, bytes_max: int) -> bool:
        """Whether segment.index.bytes are used up; the time index keeps a place for its last entry."""
        entries = max(1, bytes_max // self.offsets.form.size)
        times = max(1, bytes_max // self.times.form.size - 1)
        return len(self.offsets) >= entries or len(self.times) >= times

    def complaint(self, log_size: int) -> str | None:
        """What is wrong with them, as far as a glance shows it."""
        if complaint := self.offsets.complaint(log_size):
            return f"the offset index {complaint}"
        if complaint := self.times.complaint():
            return f"the time index {complaint}"
        if complaint := self.aborts.complaint(self._base):
            return f"the index of aborted transactions {complaint}"
        return None

    def truncate_to(self, offset: int) -> None:
        """Forget everything at `offset` and beyond."""
        for index in (self.offsets, self.times, self.aborts):
            index.truncate_to(offset)

    def clear(self) -> None:
        """Forget everything, and make the files that should be there."""
        self.offsets.clear()
        self.times.clear()
        if len(self.aborts) or self.aborts.is_torn:
            self.aborts.clear()
        self.bytes_since_entry = 0
        self.max_timestamp, self.offset_of_max = NO_TIMESTAMP, self._base

    def write(self) -> list[File]:
        """Add the last word on time and bring everything into the files; returns those written to."""
        self.times.append_if_later(self.max_timestamp, self.offset_of_max)
        return [index.file for index in self.all() if index.write()]

    def seal(self) -> None:
        """The segment is complete: write, and keep nothing in memory."""
        self.write()
        self.offsets.seal()
        self.times.seal()

    def close(self) -> None:
        """Write what is in memory only, and give the descriptors back."""
        for index in self.all():
            index.close()

    def files(self) -> list[File]:
        """The files; the one of aborted transactions only if it has something to say."""
        return [index.file for index in self.all() if index is not self.aborts or len(index)]

    def all(self) -> tuple[EntryFile, EntryFile, EntryFile]:
        """In the order of layout.SEGMENT_FILES, which begins with the log."""
        return self.offsets, self.times, self.aborts
