"""The faults of the simulated disk; what it shares with the real one is in properties/test_disks_agree.py."""

from __future__ import annotations

import errno
import random

import pytest

from andiron.sim.disk import Killed, MemoryDisk


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("/data")
    disk.sync_directory("/")
    return disk


def crashes(make, seeds=40):
    """Disks made alike and crashed each from its own seed."""
    for seed in range(seeds):
        disk = make()
        disk.crash(random.Random(seed))
        yield disk


def test_a_process_that_dies_loses_nothing(disk):
    disk.open("/data/a").append(b"unsynced")

    assert disk.open("/data/a").read(0, 99) == b"unsynced"


def test_synced_bytes_under_a_settled_name_survive_every_crash():
    def make():
        disk = MemoryDisk()
        disk.make_directory("/data")
        file = disk.open("/data/a")
        disk.sync_directory("/data")
        file.append(b"kept")
        file.sync()
        file.append(b"perhaps")
        return disk

    left = {disk.read_file("/data/a") for disk in crashes(make)}
    assert {each[:4] for each in left} == {b"kept"}
    assert len(left) > 5


def test_a_flush_counts_as_a_sync(disk):
    files = [disk.open("/data/a"), disk.open("/data/b")]
    disk.sync_directory("/data")
    for file in files:
        file.append(b"kept")
    disk.remove("/data/b")

    disk.end_sync(disk.begin_sync(files))
    disk.crash(random.Random(1))

    assert disk.read_file("/data/a") == b"kept"


def test_a_new_file_may_vanish_though_its_bytes_were_synced():
    def make():
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        file = disk.open("/data/a")
        file.append(b"x")
        file.sync()
        return disk

    assert {disk.exists("/data/a") for disk in crashes(make)} == {True, False}


def test_a_small_file_written_whole_survives_every_crash():
    def make():
        disk = MemoryDisk()
        disk.make_directory("/data/t-0")
        disk.write_file("/data/t-0/a", b"old")
        disk.write_file("/data/t-0/a", b"new")
        return disk

    assert {disk.read_file("/data/t-0/a") for disk in crashes(make)} == {b"new"}


def test_files_open_during_a_crash_are_of_no_use_after_it(disk):
    file = disk.open("/data/a")
    disk.crash(random.Random(0))

    with pytest.raises(FileNotFoundError):
        file.append(b"x")
    assert disk.open("/data/a") is not file


def test_the_same_seed_leaves_the_same_disk():
    def make():
        disk = MemoryDisk()
        disk.make_directory("/data")
        for name in "cab":
            disk.open(f"/data/{name}").append(name.encode() * 1000)
        return disk

    def content(disk):
        return {name: disk.read_file(f"/data/{name}") for name in disk.names("/data")}

    assert [content(disk) for disk in crashes(make)] == [content(disk) for disk in crashes(make)]


def test_without_inodes_no_file_can_be_made_and_those_that_are_there_grow(disk):
    file = disk.open("a")
    disk.use_up_inodes()

    file.append(b"more")
    for make in (disk.open, disk.make_directory, lambda path: disk.write_file(path, b"")):
        with pytest.raises(OSError, match="no space left"):
            make("b")
    assert disk.is_bad and not disk.exists("b")

    disk.free_up()
    disk.write_file("b", b"x")
    assert not disk.is_bad


def test_a_full_disk_refuses_an_append_whole(disk):
    file = disk.open("/data/a")
    disk.fill_up(room=5)

    file.append(b"123")
    with pytest.raises(OSError) as caught:
        file.append(b"456")

    assert caught.value.errno == errno.ENOSPC
    assert (file.size, file.read(0, 9)) == (3, b"123")
    with pytest.raises(OSError, match="no space"):
        disk.write_file("/data/b", b"456")
    assert disk.names("/data") == {"a": 3}
    assert disk.usage("/data")[1] == 2


def test_room_comes_back_when_something_is_removed_or_cut_or_when_freed(disk):
    file, other = disk.open("/data/a"), disk.open("/data/b")
    file.append(b"12345")
    other.append(b"12345")
    disk.fill_up()

    file.truncate(2)
    file.append(b"345")
    disk.remove("/data/b")
    file.append(b"67890")
    with pytest.raises(OSError, match="no space"):
        file.append(b"x")
    disk.free_up()
    file.append(b"x" * 1000)

    assert disk.used == 1010


def test_corruption_turns_over_one_bit(disk):
    disk.open("/data/a").append(bytes(100))

    position = disk.corrupt(random.Random(3), "/data/a")

    data = disk.read_file("/data/a")
    assert data[position].bit_count() == 1
    assert sum(map(int.bit_count, data)) == 1


def test_damage_may_be_kept_within_bounds(disk):
    disk.open("/data/a").append(bytes(100))

    assert disk.corrupt(random.Random(3), "/data/a", range(7, 8)) == 7


def test_a_flush_does_not_cover_what_came_after_it_began(disk):
    file = disk.open("/data/a")
    disk.sync_directory("/data")
    file.append(b"kept")
    begun = disk.begin_sync([file])
    file.append(b"perhaps" * 100)
    disk.end_sync(begun)

    disk.crash(random.Random(5))

    left = disk.read_file("/data/a")
    assert left[:4] == b"kept" and len(left) < 704


def test_with_a_fuse_the_process_dies_at_one_of_the_next_changes_and_stays_dead(disk):
    file = disk.open("/data/a")
    disk.fuse = 2
    file.append(b"1")
    file.read(0, 1)  # no change
    file.append(b"2")
    for change in (
        lambda: file.append(b"3"),
        lambda: file.truncate(0),
        file.sync,
        lambda: disk.open("/data/b"),
        lambda: disk.write_file("/data/b", b""),
        lambda: disk.rename("/data/a", "/data/b"),
        lambda: disk.remove("/data/a"),
        lambda: disk.make_directory("/data/d"),
        lambda: disk.sync_directory("/data"),
    ):
        with pytest.raises(Killed):
            change()

    disk.fuse = None
    assert disk.names("/data") == {"a": 2}


def test_a_disk_that_cannot_sync_says_so_and_keeps_what_it_has(disk):
    file = disk.open("/data/a")
    file.append(b"x")
    disk.fail_syncs()
    assert disk.is_bad
    for sync in (file.sync, lambda: disk.sync_directory("/data"), lambda: disk.write_file("/data/b", b"")):
        with pytest.raises(OSError, match="cannot be written"):
            sync()
    disk.fail_syncs(False)
    file.sync()
    assert not disk.is_bad
