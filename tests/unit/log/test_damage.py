"""Where a metadata log is damaged, and what is whole behind it."""

import pytest

from andiron.log.damage import find_damage
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk

LOG = "/m/00000000000000000000.log"


def batch(base, count=3, epoch=1):
    return bytes(
        build([Record(0, 1, None, b"v%d" % at) for at in range(count)], base_offset=base, leader_epoch=epoch)
    )


def written(disk, *batches, base=0):
    file = disk.open(f"/m/{base:020d}.log")
    for each in batches:
        file.append(each)
    return file


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("/m")
    return disk


def flip(disk, position, path=LOG):
    data = bytearray(disk.read_file(path))
    data[position] ^= 0x10
    file = disk.open(path)
    file.truncate(0)
    file.append(bytes(data))


def test_a_log_that_holds_has_none(disk):
    written(disk, batch(0), batch(3))
    written(disk, batch(6, epoch=2), base=6)

    assert find_damage(disk, "/m") is None


def test_a_log_that_is_not_there_yet_has_none(disk):
    assert find_damage(disk, "/m") is None


def test_it_is_told_with_what_is_whole_behind_it(disk):
    first = batch(0)
    written(disk, first, batch(3), batch(6))
    written(disk, batch(9), base=9)
    flip(disk, len(first) + 70)

    damage = find_damage(disk, "/m")

    assert (damage.path, damage.position, damage.offset) == (LOG, len(first), 3)
    assert "offset 3 fails its checksum" in damage.reason
    assert [each.base_offset for each in damage.behind] == [6, 9]
    assert (damage.records, damage.reach) == (6, 12)


@pytest.mark.parametrize("field", range(12))
def test_what_lies_outside_of_a_checksum_is_found_too(disk, field):
    """Base offset and length: a broken length hides where the next batch begins, which is then searched for."""
    first = batch(0)
    written(disk, first, batch(3), batch(6))
    flip(disk, len(first) + field)

    damage = find_damage(disk, "/m")

    assert (damage.position, damage.offset) == (len(first), 3)
    assert damage.behind[-1].base_offset == 6


def test_an_epoch_that_falls_is_damage(disk):
    written(disk, batch(0, epoch=3), batch(3, epoch=2))

    assert "epoch 2 after one of epoch 3" in find_damage(disk, "/m").reason


def test_a_torn_tail_has_nothing_behind_it(disk):
    written(disk, batch(0), batch(3)[:50])

    damage = find_damage(disk, "/m")

    assert (damage.offset, damage.behind, damage.reach) == (3, [], 3)


def test_a_segment_that_is_missing_is_damage(disk):
    written(disk, batch(0))
    written(disk, batch(6), base=6)

    damage = find_damage(disk, "/m")

    assert damage.path.endswith("6.log") and damage.offset == 3
    assert [each.base_offset for each in damage.behind] == [6]


def test_a_log_that_ends_before_its_time_is_damaged(disk):
    written(disk, batch(0))

    assert find_damage(disk, "/m", 3) is None
    assert "had records up to 8" in find_damage(disk, "/m", 9).reason
