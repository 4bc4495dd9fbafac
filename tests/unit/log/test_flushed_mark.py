"""How far the metadata log is on the disk, as noted beside it."""

import random

import pytest

from andiron.log.flushed_mark import FILE, SIZE_MAX, FlushedMark
from andiron.sim.disk import MemoryDisk


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("/m")
    disk.sync_directory("/")
    return disk


def test_nothing_is_known_before_it_is_noted(disk):
    assert FlushedMark(disk, "/m").load() == 0


def test_the_last_note_counts(disk):
    mark = FlushedMark(disk, "/m")
    mark.raise_to(5)
    mark.raise_to(9)
    assert FlushedMark(disk, "/m").load() == 9

    mark.lower_to(7)
    assert FlushedMark(disk, "/m").load() == 7

    mark.raise_to(8)
    assert FlushedMark(disk, "/m").load() == 8


def test_it_stays_small(disk):
    mark = FlushedMark(disk, "/m")
    for end in range(3000):
        mark.raise_to(end)

    assert disk.names("/m")[FILE] <= SIZE_MAX
    assert mark.load() == 2999


@pytest.mark.parametrize("seed", range(50))
def test_a_power_loss_never_leaves_more_than_was_true(disk, seed):
    mark = FlushedMark(disk, "/m")
    mark.lower_to(10)
    for end in range(11, 40):
        mark.raise_to(end)

    disk.crash(random.Random(seed))

    assert FlushedMark(disk, "/m").load() < 40


def test_a_note_that_is_damaged_is_passed_by(disk):
    mark = FlushedMark(disk, "/m")
    mark.raise_to(5)
    mark.raise_to(9)
    disk.corrupt(random.Random(1), f"/m/{FILE}", range(12, 24))

    assert FlushedMark(disk, "/m").load() == 5
