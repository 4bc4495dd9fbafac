"""The .index of a segment: from an offset to where in the .log to begin looking.

    offset - base   4 bytes ┐ one entry for a batch, about every index.interval.bytes:
    position        4 bytes ┘ the batch's last offset, and where the batch begins

Sparse on purpose: with an entry each 4 KiB a segment of 1 GiB has an index of 2 MiB, and what is
left to scan is one page. Since an entry names the *last* offset of its batch, the batch that holds
a wanted offset never begins before the entry found for it.

Read next: segment.py, which scans on from there.
"""

from __future__ import annotations

from struct import Struct

from andiron.log.disk import Disk
from andiron.log.entry_file import EntryFile


class OffsetIndex(EntryFile):
    """Offset → position, for some of the batches of one segment."""

    __slots__ = ("_base",)

    form = Struct(">ii")

    def __init__(self, disk: Disk, path: str, size: int, base: int) -> None:
        super().__init__(disk, path, size)
        self._base = base

    def append(self, last_offset: int, position: int) -> None:
        """The batch that begins at `position` ends with `last_offset`."""
        self._tail += self.form.pack(last_offset - self._base, position)

    def lookup(self, offset: int) -> int:
        """The largest known position that is not beyond the batch holding `offset`."""
        count = self.count_upto(offset - self._base)
        return int(self.entry(count - 1)[1]) if count else 0

    def boundary_upto(self, position: int) -> int:
        """The largest known beginning of a batch at or before `position`."""
        count = self.count_upto(position, column=1)
        return int(self.entry(count - 1)[1]) if count else 0

    def last(self) -> tuple[int, int]:
        """The last entry, as offset and position; (base - 1, 0) if there is none."""
        if not len(self):
            return self._base - 1, 0
        relative, position = self.entry(-1)
        return self._base + relative, position

    def truncate_to(self, offset: int) -> None:
        """Forget batches that hold `offset` or begin after it."""
        self.truncate(self.count_upto(offset - self._base - 1))

    def complaint(self, log_size: int) -> str | None:
        """What is wrong with the index of a log of that size, as far as its ends show it."""
        if self.is_torn:
            return "ends in a part of an entry"
        if len(self):
            (first_relative, first_position), (relative, position) = self.entry(0), self.entry(-1)
            if not 0 <= first_relative <= relative or not 0 <= first_position <= position < log_size:
                return f"ends at offset {self._base + relative} and position {position} of {log_size}"
            if len(self) > 1 and not (first_relative < relative and first_position < position):
                return "does not rise"
        return None
