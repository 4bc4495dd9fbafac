from __future__ import annotations

import pytest

from andiron.log.abort_index import AbortedTransaction
from andiron.log.indexes import SegmentIndexes
from andiron.sim.disk import MemoryDisk

BASE = 100


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("t-0")
    return disk


def indexes_of(disk, interval=100):
    found = SegmentIndexes(disk, "t-0", BASE, sizes=disk.names("t-0"), state="")
    found.interval = interval
    return found


def note(indexes, *batches, size=60):
    """Batches of one record each, given by their timestamps."""
    position, offset = 0, BASE
    for timestamp in batches:
        indexes.note(position, size, offset, timestamp)
        position, offset = position + size, offset + 1


def test_an_entry_comes_once_the_interval_is_exceeded(disk):
    indexes = indexes_of(disk)
    note(indexes, 1, 2, 3, 4, 5)
    assert [indexes.offsets.entry(i) for i in range(len(indexes.offsets))] == [(2, 120), (4, 240)]
    assert [indexes.times.entry(i) for i in range(len(indexes.times))] == [(3, 2), (5, 4)]


def test_the_first_batch_has_no_entry(disk):
    indexes = indexes_of(disk, interval=0)
    note(indexes, 1, 2)
    assert indexes.offsets.last() == (101, 60)
    assert len(indexes.offsets) == 1


def test_time_is_the_largest_so_far_at_its_first_offset(disk):
    indexes = indexes_of(disk)
    note(indexes, 1, 9, 3, 9)
    assert indexes.times.last() == (9, 101)
    assert (indexes.max_timestamp, indexes.offset_of_max) == (9, 101)


def test_sealing_adds_the_last_word_on_time(disk):
    indexes = indexes_of(disk)
    note(indexes, 1, 2, 3, 99)
    indexes.seal()
    again = indexes_of(disk)
    again.load(log_size=240)
    assert (again.max_timestamp, again.offset_of_max) == (99, 103)
    assert again.bytes_since_entry == 120


def test_files_are_there_even_if_empty_but_for_aborts(disk):
    indexes = indexes_of(disk)
    indexes.clear()
    indexes.seal()
    assert disk.names("t-0") == {
        "00000000000000000100.index": 0,
        "00000000000000000100.timeindex": 0,
    }
    assert [file.path[-6:] for file in indexes.files()] == [".index", "eindex"]


def test_an_abort_makes_its_file_when_written(disk):
    indexes = indexes_of(disk)
    indexes.aborts.append(AbortedTransaction(7, 100, 101, 102))
    assert [file.path for file in indexes.write()] == ["t-0/00000000000000000100.txnindex"]
    assert len(indexes.files()) == 3


def test_they_are_full_at_segment_index_bytes(disk):
    indexes = indexes_of(disk, interval=0)
    note(indexes, 5, 5, 5, 5, 5)
    assert indexes.is_full(36)
    assert not indexes.is_full(40)


def test_the_time_index_keeps_a_place_for_the_last_entry(disk):
    indexes = indexes_of(disk, interval=0)
    note(indexes, 1, 2, 3)
    assert indexes.is_full(36)
    assert not indexes.is_full(48)


def test_truncation_and_clearing_concern_all_three(disk):
    indexes = indexes_of(disk, interval=0)
    note(indexes, 1, 2, 3)
    indexes.aborts.append(AbortedTransaction(7, 100, 102, 103))
    indexes.truncate_to(102)
    assert [len(each) for each in indexes.all()] == [1, 1, 0]
    indexes.clear()
    assert [len(each) for each in indexes.all()] == [0, 0, 0]
    assert indexes.max_timestamp == -1


def test_the_complaint_names_the_index(disk):
    disk.write_file("t-0/00000000000000000100.timeindex", bytes(5))
    assert indexes_of(disk).complaint(0) == "the time index ends in a part of an entry"
