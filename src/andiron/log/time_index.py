"""The .timeindex of a segment: from a time to an offset.

    timestamp       8 bytes ┐ no record of this segment up to and including that offset
    offset - base   4 bytes ┘ is later than the timestamp

Timestamps are the producers' and need not rise from record to record; those of the entries do,
because an entry holds the largest timestamp so far, with the last offset of the batch it came in.
The last entry of a sealed segment is the largest timestamp of all, by which retention and
ListOffsets choose segments. One whose records have no timestamps has none: to Kafka's tools an
entry of -1 is out of order.
"""

from __future__ import annotations

from struct import Struct

from andiron.log.disk import Disk
from andiron.log.entry_file import EntryFile
from andiron.model.ids import NO_TIMESTAMP


class TimeIndex(EntryFile):
    """Timestamp → offset, for the times at which a segment's clock moved on."""

    __slots__ = ("_base",)

    form = Struct(">qi")

    def __init__(self, disk: Disk, path: str, size: int, base: int) -> None:
        super().__init__(disk, path, size)
        self._base = base

    def append_if_later(self, timestamp: int, offset: int) -> None:
        """Nothing up to `offset` is later than `timestamp`; news only if it is later than the last entry."""
        if timestamp > self.last()[0]:
            self._tail += self.form.pack(timestamp, offset - self._base)

    def lookup(self, timestamp: int) -> int:
        """An offset before which no record is later than `timestamp`, as far as is known."""
        count = self.count_upto(timestamp)
        return self._base + int(self.entry(count - 1)[1]) if count else self._base

    def last(self) -> tuple[int, int]:
        """The last entry, as timestamp and offset; (-1, base) if there is none."""
        if not len(self):
            return NO_TIMESTAMP, self._base
        timestamp, relative = self.entry(-1)
        return timestamp, self._base + relative

    def truncate_to(self, offset: int) -> None:
        """Forget what was learned from `offset` on."""
        self.truncate(self.count_upto(offset - self._base - 1, column=1))

    def complaint(self) -> str | None:
        """What is wrong with it, as far as its ends show it."""
        if self.is_torn:
            return "ends in a part of an entry"
        if len(self):
            (first_timestamp, first_relative), (timestamp, relative) = self.entry(0), self.entry(-1)
            if not 0 <= first_relative <= relative or first_timestamp > timestamp:
                return f"ends at timestamp {timestamp} and offset {self._base + relative}"
            if len(self) > 1 and first_timestamp == timestamp:
                return "does not rise"
        return None
