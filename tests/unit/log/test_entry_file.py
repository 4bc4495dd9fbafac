from __future__ import annotations

from struct import Struct

import pytest

from andiron.log.entry_file import PAGE_BYTES, EntryFile
from andiron.sim.disk import MemoryDisk


class Pairs(EntryFile):
    """Entries to try it with: a number and its double."""

    __slots__ = ()
    form = Struct(">ii")

    def add(self, *numbers):
        for number in numbers:
            self._tail += self.form.pack(number, number * 2)


class CountingDisk(MemoryDisk):
    def __init__(self):
        super().__init__()
        self.opened = 0

    def open(self, path):
        self.opened += 1
        return super().open(path)


@pytest.fixture
def disk():
    return CountingDisk()


def on_disk(disk, numbers):
    """The same entries, read from a file by someone who did not write it."""
    pairs = Pairs(disk, "pairs", 0)
    pairs.add(*numbers)
    pairs.seal()
    return Pairs(disk, "pairs", disk.names("")["pairs"])


MANY = range(0, 30_000, 3)  # twenty pages of them


def test_what_is_appended_stays_in_memory_until_it_is_written(disk):
    pairs = Pairs(disk, "pairs", 0)
    pairs.add(1, 2, 3)
    assert disk.opened == 0
    assert pairs.write()
    assert disk.read_file("pairs") == Pairs.form.pack(1, 2) + Pairs.form.pack(2, 4) + Pairs.form.pack(3, 6)
    assert not pairs.write()


def test_each_entry_is_written_once(disk):
    pairs = Pairs(disk, "pairs", 0)
    pairs.add(1)
    pairs.write()
    pairs.add(2)
    pairs.write()
    pairs.seal()
    pairs.add(3)
    pairs.close()
    assert [pairs.entry(i)[0] for i in range(3)] == [1, 2, 3]
    assert len(disk.read_file("pairs")) == 3 * 8


def test_a_file_of_none_is_made_by_sealing(disk):
    Pairs(disk, "pairs", 0).seal()
    assert disk.names("") == {"pairs": 0}


@pytest.mark.parametrize("value", [-1, 0, 1, 3, 4, 14_999, 15_000, 29_996, 29_997, 99_999])
def test_a_search_gives_the_same_in_memory_as_in_the_file(disk, value):
    in_memory = Pairs(disk, "other", 0)
    in_memory.add(*MANY)
    in_file = on_disk(disk, MANY)
    wanted = sum(number <= value for number in MANY)
    assert in_memory.count_upto(value) == in_file.count_upto(value) == wanted
    assert in_memory.count_upto(value * 2, column=1) == in_file.count_upto(value * 2, column=1) == wanted


def test_a_search_spans_file_and_memory(disk):
    pairs = on_disk(disk, range(10))
    pairs.add(*range(10, 20))
    assert [pairs.count_upto(n) for n in (-1, 0, 9, 10, 19, 20)] == [0, 1, 10, 11, 20, 20]
    assert pairs.entry(9) == (9, 18)
    assert pairs.entry(-1) == (19, 38)


def test_a_second_search_nearby_reads_nothing(disk):
    pairs = on_disk(disk, MANY)
    assert pairs.count_upto(20_000) == 6667
    pairs.file.gone = True  # reading would fail now
    assert pairs.count_upto(20_010) == 6671


def test_a_large_file_is_not_read_whole(disk):
    pairs = on_disk(disk, MANY)
    read = []
    original = pairs.file.read
    type(pairs.file).read, before = (
        (lambda self, position, length: read.append(length) or original(position, length)),
        type(pairs.file).read,
    )
    try:
        pairs.count_upto(12_345)
    finally:
        type(pairs.file).read = before
    assert sum(read) <= PAGE_BYTES + 8 * 6


@pytest.mark.parametrize("keep", [0, 3, 10, 12, 20, 25])
def test_truncation_cuts_memory_and_file(disk, keep):
    pairs = on_disk(disk, range(10))
    pairs.add(*range(10, 20))
    pairs.truncate(keep)
    left = min(keep, 20)
    assert [pairs.entry(i)[0] for i in range(len(pairs))] == list(range(left))
    pairs.add(77)
    pairs.close()
    assert len(disk.read_file("pairs")) == (left + 1) * 8


def test_clearing_forgets_a_torn_file_too(disk):
    disk.write_file("pairs", bytes(19))
    pairs = Pairs(disk, "pairs", 19)
    assert pairs.is_torn
    pairs.clear()
    assert not pairs.is_torn
    assert len(pairs) == 0
    assert disk.read_file("pairs") == b""


def test_a_file_that_shrank_is_an_error_of_the_disk(disk):
    pairs = on_disk(disk, MANY)
    disk.open("pairs").truncate(8)
    with pytest.raises(OSError, match="lost entries"):
        pairs.entry(5_000)
