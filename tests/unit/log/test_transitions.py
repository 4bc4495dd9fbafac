from __future__ import annotations

from contextlib import suppress

import pytest

from andiron.log.layout import CLEANED, DELETED, SWAP
from andiron.log.segment import Segment
from andiron.log.settings import LogSettings
from andiron.log.transitions import finish
from andiron.records.batch import Batch
from andiron.sim.disk import MemoryDisk
from unit.log.logs import batch_of

SETTINGS = LogSettings()


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("t-0")
    return disk


def segment(disk, base, last, *, state=""):
    """A segment whose only batch ends with `last`."""
    made = Segment.create(disk, "t-0", base, SETTINGS, 0, state=state)
    batch = Batch(batch_of(last - base + 1, base_offset=base))
    made.append(batch.raw, batch.last_offset, batch.max_timestamp)
    made.seal()
    made.close()
    return made


def logs_after(disk, notices=None):
    sizes = finish(disk, "t-0", disk.names("t-0"), SETTINGS, [] if notices is None else notices)
    assert sizes == disk.names("t-0")
    assert not any(name.endswith((CLEANED, SWAP, DELETED)) for name in sizes)
    bases = [int(name[:20]) for name in sizes if name.endswith(".log")]
    return {base: next(Segment.open(disk, "t-0", base, SETTINGS).batches()).last_offset for base in bases}


def test_where_nothing_is_in_transition_nothing_is_touched(disk):
    segment(disk, 0, 9)
    sizes = disk.names("t-0")
    assert finish(disk, "t-0", sizes, SETTINGS, []) is sizes


@pytest.mark.parametrize("state", [DELETED, CLEANED])
def test_what_was_given_up_or_unfinished_is_removed(disk, state):
    segment(disk, 0, 9)
    segment(disk, 10, 19, state=state)
    assert logs_after(disk) == {0: 9}


def test_a_swap_is_completed(disk):
    notices = []
    segment(disk, 0, 9)
    segment(disk, 10, 19)
    segment(disk, 20, 29)
    segment(disk, 0, 15, state=SWAP)
    assert logs_after(disk, notices) == {0: 15, 20: 29}
    assert any("put in its place" in notice for notice in notices)


def test_a_swap_whose_log_was_renamed_already_gets_its_indexes(disk):
    segment(disk, 0, 15, state=SWAP)
    disk.rename("t-0/00000000000000000000.log.swap", "t-0/00000000000000000000.log")
    assert logs_after(disk) == {0: 15}
    assert len(disk.names("t-0")) == 3


def test_a_swap_behind_an_unfinished_one_does_not_count(disk):
    segment(disk, 0, 9)
    segment(disk, 10, 19)
    segment(disk, 0, 5, state=CLEANED)
    segment(disk, 10, 15, state=SWAP)
    assert logs_after(disk) == {0: 9, 10: 19}


def test_a_swap_before_an_unfinished_one_counts(disk):
    segment(disk, 0, 9)
    segment(disk, 10, 19)
    segment(disk, 0, 5, state=SWAP)
    segment(disk, 10, 15, state=CLEANED)
    assert logs_after(disk) == {0: 5, 10: 19}


def test_every_step_can_be_interrupted(disk):
    """Renames and removals reach the disk one by one: whichever was the last, the outcome is the same."""
    for steps in range(8):
        world = MemoryDisk()
        world.make_directory("t-0")
        segment(world, 0, 9)
        segment(world, 10, 19)
        segment(world, 0, 15, state=SWAP)
        left = [steps]

        def counted(do, left=left):
            def act(*paths):
                if not left[0]:
                    raise KeyboardInterrupt
                left[0] -= 1
                do(*paths)

            return act

        remove, rename = world.remove, world.rename
        world.remove, world.rename = counted(remove), counted(rename)
        with suppress(KeyboardInterrupt):
            finish(world, "t-0", world.names("t-0"), SETTINGS, [])
        world.remove, world.rename = remove, rename
        assert logs_after(world) == {0: 15}


def test_a_damaged_swap_takes_the_place_of_what_it_can_tell(disk):
    segment(disk, 0, 9)
    segment(disk, 10, 19)
    damaged = segment(disk, 0, 5, state=SWAP)
    damaged.file.append(b"garbage behind")
    assert logs_after(disk) == {0: 5, 10: 19}


def test_files_of_others_are_left_alone(disk):
    disk.write_file("t-0/00000000000000000010-0000000001.checkpoint.deleted", b"x")
    finish(disk, "t-0", disk.names("t-0"), SETTINGS, [])
    assert len(disk.names("t-0")) == 1
