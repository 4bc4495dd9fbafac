"""A file of entries of one size, in rising order: the form of all three indexes.

    entries   0 ······································ first ············· count
              │ in the file, read a page at a time      │ in memory, as packed │
                                              written ──┘ … or somewhere here

What is appended stays in memory in the form it has on disk and goes into the file in one write when
its segment rolls, is closed or is rebuilt: the append path makes no system call for an index. The
entries of a sealed segment are searched in their file. A search reads one page of 4 KiB, found by a
few small reads and then kept, so that the next search near it reads nothing.

The law: entries rise in every column searched. Whether they do is not looked at here: each kind of
index has a `complaint`, which looks at the ends, where a file cut short or never finished shows.

Read next: offset_index.py, time_index.py.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from andiron.log.disk import Disk, File

PAGE_BYTES = 4096

Entry = tuple[Any, ...]


class EntryFile:
    """Entries of one Struct; those of the file are read on demand, the others kept."""

    __slots__ = (
        "_disk",
        "_file",
        "_first",
        "_page",
        "_page_at",
        "_size",
        "_tail",
        "_unpack",
        "_written",
        "is_torn",
        "path",
    )

    form: Struct  # given by each kind of index

    def __init__(self, disk: Disk, path: str, size: int) -> None:
        """The file at `path`, known to have `size` bytes; it is opened when first needed."""
        self.path = path
        self._disk = disk
        self._file: File | None = None
        self._size = self.form.size
        self._unpack = self.form.unpack_from
        self._written, part = divmod(size, self._size)
        self.is_torn = part != 0  # ends in a part of an entry: to be cleared before use
        self._first = self._written  # entries from here on are in the tail
        self._tail = bytearray()
        self._page, self._page_at = b"", 0

    def __len__(self) -> int:
        return self._first + len(self._tail) // self._size

    @property
    def file(self) -> File:
        """The file itself, for flushing and renaming."""
        if self._file is None:
            self._file = self._disk.open(self.path)
        return self._file

    def entry(self, number: int) -> Entry:
        """The entry of that number; the last is -1."""
        if number < 0:
            number += len(self)
        if number >= self._first:
            return self._unpack(self._tail, (number - self._first) * self._size)
        if not self._page_at <= number < self._page_at + len(self._page) // self._size:
            self._read_page(number)
        return self._unpack(self._page, (number - self._page_at) * self._size)

    def count_upto(self, value: int, column: int = 0) -> int:
        """How many entries have at most `value` in a column: the number of the first that has more."""
        unpack, size = self._unpack, self._size
        buf: bytes | bytearray = self._tail
        at = self._first
        if at and not (buf and unpack(buf)[column] <= value):
            self._find_page(value, column)
            buf, at = self._page, self._page_at
        low, high = at, at + len(buf) // size
        while low < high:
            middle = (low + high) >> 1
            if unpack(buf, (middle - at) * size)[column] <= value:
                low = middle + 1
            else:
                high = middle
        return low

    def write(self) -> bool:
        """Bring what is only in memory into the file; says whether there was anything."""
        start = (self._written - self._first) * self._size
        if start >= len(self._tail):
            return False
        self.file.append(bytes(memoryview(self._tail)[start:]))
        self._written = len(self)
        return True

    def seal(self) -> None:
        """Write everything, even if it is nothing, and keep nothing in memory."""
        self._file = self.file  # an index without entries is still a file
        self.write()
        self._first = self._written
        self._tail = bytearray()

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries."""
        if count >= len(self):
            return
        if count < self._written:
            self.file.truncate(count * self._size)
            self._written = count
        if count < self._first:
            self._first = count
            self._page = b""
        del self._tail[(count - self._first) * self._size :]

    def clear(self) -> None:
        """Forget every entry, and whatever else the file holds."""
        self.file.truncate(0)
        self._written = self._first = 0
        self._tail = bytearray()
        self._page = b""
        self.is_torn = False

    def close(self) -> None:
        """Write what is left, and give the descriptor back."""
        self.write()
        if self._file is not None:
            self._file.close()

    def _find_page(self, value: int, column: int) -> None:
        """Have the page in hand that holds the last entry with at most `value`, or the first page."""
        unpack, size = self._unpack, self._size
        if self._page and unpack(self._page)[column] <= value:
            after = self._page_at + len(self._page) // size
            if after == self._first or unpack(self._page, len(self._page) - size)[column] > value:
                return
        per_page = PAGE_BYTES // size
        low, high = 0, -(-self._first // per_page)
        while high - low > 1:
            middle = (low + high) >> 1
            if unpack(self._read(middle * per_page, 1))[column] <= value:
                low = middle
            else:
                high = middle
        self._read_page(low * per_page)

    def _read_page(self, number: int) -> None:
        per_page = PAGE_BYTES // self._size
        start = number - number % per_page
        self._page = self._read(start, min(per_page, self._first - start))
        self._page_at = start

    def _read(self, number: int, count: int) -> bytes:
        data = self.file.read(number * self._size, count * self._size)
        if len(data) != count * self._size:
            raise OSError(f"{self.path} has lost entries that it had")
        return data
