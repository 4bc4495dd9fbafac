"""The .txnindex of a segment: the aborted transactions whose end marker lies in it.

    version          2 bytes   0
    producer id      8
    first offset     8         of the transaction
    last offset      8         of its abort marker
    last stable      8         the last stable offset once that marker was written

A read_committed reader gets, with the records of a range, the transactions in it to skip. One that
reaches into the range may be aborted in a later segment, so the search goes on until an entry says
that nothing below the range's end was undecided any more (`last stable`).

The file is made when there is a first entry: most partitions never have one.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from andiron.log.entry_file import EntryFile

_VERSION = 0
LAST_OFFSET = 3  # the column that rises


class AbortedTransaction(NamedTuple):
    """A transaction that never happened: skip its producer's records from `first_offset` to the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable: int


class AbortIndex(EntryFile):
    """The aborted transactions that ended in one segment, in the order of their ends."""

    __slots__ = ()

    form = Struct(">hqqqq")

    def append(self, aborted: AbortedTransaction) -> None:
        """One more, later than all others."""
        self._tail += self.form.pack(_VERSION, *aborted)

    def entries(self) -> Iterator[AbortedTransaction]:
        """All of them."""
        for number in range(len(self)):
            yield AbortedTransaction(*self.entry(number)[1:])

    def between(self, start: int, end: int) -> tuple[list[AbortedTransaction], bool]:
        """Those that touch [start, end), and whether no later segment can have more of them.

        Looked for from the first that ends in the range, however many have ended before it.
        """
        found = []
        for number in range(self.count_upto(start - 1, column=LAST_OFFSET), len(self)):
            aborted = AbortedTransaction(*self.entry(number)[1:])
            if aborted.first_offset < end:
                found.append(aborted)
            if aborted.last_stable >= end:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        """Forget transactions aborted at `offset` or later."""
        self.truncate(self.count_upto(offset - 1, column=LAST_OFFSET))

    def complaint(self, base: int) -> str | None:
        """What is wrong with the index of a segment starting at `base`."""
        if self.is_torn:
            return "ends in a part of an entry"
        last = base - 1
        for aborted in self.entries():
            if not aborted.first_offset <= aborted.last_offset or aborted.last_offset <= last:
                return f"has {aborted} after offset {last}"
            last = aborted.last_offset
        return None
