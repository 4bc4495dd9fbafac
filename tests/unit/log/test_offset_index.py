from __future__ import annotations

import pytest

from andiron.log.offset_index import OffsetIndex
from andiron.sim.disk import MemoryDisk

BASE = 1_000


def index_of(*entries, size=0):
    index = OffsetIndex(MemoryDisk(), "i", size, BASE)
    for offset, position in entries:
        index.append(offset, position)
    return index


THREE = (1_009, 500), (1_019, 1_000), (1_040, 1_600)


def test_an_entry_is_a_relative_offset_and_a_position():
    index = index_of(*THREE)
    index.write()
    assert index.file.read(0, 8) == bytes.fromhex("00000009 000001f4")


@pytest.mark.parametrize(
    ("offset", "position"),
    [(1_000, 0), (1_008, 0), (1_009, 500), (1_018, 500), (1_019, 1_000), (9_999, 1_600)],
)
def test_a_lookup_never_goes_beyond_the_batch_that_holds_the_offset(offset, position):
    assert index_of(*THREE).lookup(offset) == position


@pytest.mark.parametrize(
    ("position", "boundary"), [(0, 0), (499, 0), (500, 500), (1_599, 1_000), (5_000, 1_600)]
)
def test_a_boundary_is_the_last_one_not_beyond_a_position(position, boundary):
    assert index_of(*THREE).boundary_upto(position) == boundary


def test_the_last_entry_of_none_is_before_the_base():
    assert index_of().last() == (999, 0)
    assert index_of(*THREE).last() == (1_040, 1_600)


@pytest.mark.parametrize(("offset", "left"), [(1_041, 3), (1_040, 2), (1_020, 2), (1_009, 0), (1_000, 0)])
def test_truncation_forgets_batches_that_hold_the_offset_or_follow(offset, left):
    index = index_of(*THREE)
    index.truncate_to(offset)
    assert len(index) == left


def test_a_sound_index_has_no_complaint():
    assert index_of().complaint(0) is None
    assert index_of(*THREE).complaint(1_700) is None


@pytest.mark.parametrize(
    ("index", "complaint"),
    [
        (index_of(size=11), "part of an entry"),
        (index_of(*THREE), "position 1600 of 1600"),
        (index_of((1_009, 500), (1_000, 500)), "ends at offset 1000"),
        (index_of((1_000, 0), (1_000, 0)), "does not rise"),
        (index_of((990, 500)), "ends at offset 990"),
    ],
)
def test_what_cannot_be_right_is_named(index, complaint):
    assert complaint in index.complaint(1_600)
