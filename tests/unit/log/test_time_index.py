from __future__ import annotations

import pytest

from andiron.log.time_index import TimeIndex
from andiron.sim.disk import MemoryDisk

BASE = 1_000


def index_of(*entries, size=0):
    index = TimeIndex(MemoryDisk(), "t", size, BASE)
    for timestamp, offset in entries:
        index.append_if_later(timestamp, offset)
    return index


THREE = (70, 1_009), (80, 1_019), (95, 1_040)


def test_an_entry_is_a_timestamp_and_a_relative_offset():
    index = index_of(*THREE)
    index.write()
    assert index.file.read(0, 12) == bytes.fromhex("0000000000000046 00000009")


def test_only_a_later_time_is_news():
    index = index_of((70, 1_009), (70, 1_012), (60, 1_015), (71, 1_018))
    assert [index.entry(i) for i in range(len(index))] == [(70, 9), (71, 18)]


@pytest.mark.parametrize(
    ("timestamp", "offset"), [(0, 1_000), (69, 1_000), (70, 1_009), (94, 1_019), (95, 1_040), (999, 1_040)]
)
def test_nothing_before_the_offset_looked_up_is_later(timestamp, offset):
    assert index_of(*THREE).lookup(timestamp) == offset


def test_the_last_entry_is_the_largest_timestamp():
    assert index_of().last() == (-1, 1_000)
    assert index_of(*THREE).last() == (95, 1_040)


@pytest.mark.parametrize(("offset", "left"), [(1_041, 3), (1_040, 2), (1_009, 0)])
def test_truncation_forgets_what_was_learned_from_there_on(offset, left):
    index = index_of(*THREE)
    index.truncate_to(offset)
    assert len(index) == left


def test_a_sound_index_has_no_complaint():
    assert index_of().complaint() is None
    assert index_of(*THREE).complaint() is None


def test_a_part_of_an_entry_is_complained_of():
    assert "part of an entry" in index_of(size=13).complaint()


@pytest.mark.parametrize("data", [bytes(36), bytes.fromhex("0000000000000046 00000009") + bytes(24)])
def test_a_file_with_zeros_behind_is_complained_of(data):
    disk = MemoryDisk()
    disk.write_file("t", data)
    assert TimeIndex(disk, "t", len(data), BASE).complaint() is not None
