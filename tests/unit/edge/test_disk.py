"""What PosixDisk does beyond what every Disk does (tests/properties/test_disks_agree.py)."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys

import pytest

from andiron.edge.disk import PosixDisk
from andiron.edge.metrics.meter import ONE_IN
from andiron.model.errors import AndironError


@pytest.fixture
def disk():
    disk = PosixDisk()
    yield disk
    disk.close_all()


def open_descriptors(folder):
    """How many files below a folder this process has open, removed ones among them; others open some meanwhile."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return len([path for path in found if path.startswith(f"{folder}/")])


def test_no_more_files_are_open_than_the_limit(tmp_path):
    disk = PosixDisk(descriptors=3)
    files = [disk.open(f"{tmp_path}/{n}") for n in range(10)]
    before = open_descriptors(tmp_path)

    for round_ in range(3):
        for n, file in enumerate(files):
            file.append(b"%d%d" % (round_, n))
            assert open_descriptors(tmp_path) <= before + 3

    assert [file.read(0, 9) for file in files] == [b"0%d1%d2%d" % (n, n, n) for n in range(10)]
    disk.close_all()
    assert open_descriptors(tmp_path) == before


def test_a_file_in_use_stays_open_while_others_come_and_go(tmp_path):
    disk = PosixDisk(descriptors=4)
    busy = disk.open(f"{tmp_path}/busy")
    descriptor = busy.fd()

    for n in range(20):
        busy.append(b"x")
        disk.open(f"{tmp_path}/{n}").append(b"y")

    assert busy.fd() == descriptor
    disk.close_all()


def test_a_closed_file_opens_again_by_itself(disk, tmp_path):
    file = disk.open(f"{tmp_path}/a")
    file.append(b"one")
    file.close()
    file.close()

    file.append(b"two")

    assert file.read(0, 6) == b"onetwo"


def test_opening_what_is_there_takes_no_descriptor(disk, tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    before = open_descriptors(tmp_path)

    assert disk.open(f"{tmp_path}/a").size == 5
    assert open_descriptors(tmp_path) == before


def test_a_write_that_takes_less_than_all_is_carried_on(disk, tmp_path, monkeypatch):
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, position: pwrite(fd, data[:3], position))
    file = disk.open(f"{tmp_path}/a")

    file.append(b"0123456789")

    assert file.size == 10
    assert file.read(0, 10) == b"0123456789"


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_an_append_that_fails_half_way_leaves_the_file_as_it_was(disk, tmp_path, monkeypatch, reason):
    file = disk.open(f"{tmp_path}/a")
    file.append(b"old")
    pwrite = os.pwrite

    def give_up_at_five(fd, data, position):
        if position >= 5:
            raise OSError(reason, os.strerror(reason))
        return pwrite(fd, data[: 5 - position], position)

    monkeypatch.setattr(os, "pwrite", give_up_at_five)
    with pytest.raises(OSError) as caught:
        file.append(b"new")

    assert caught.value.errno == reason
    assert file.size == 3
    assert (tmp_path / "a").read_bytes() == b"old"
    monkeypatch.undo()
    file.append(b"er")
    assert file.read(0, 10) == b"older"


def test_an_append_that_cannot_be_undone_is_written_over(disk, tmp_path, monkeypatch):
    file = disk.open(f"{tmp_path}/a")
    pwrite = os.pwrite

    def broken(*_):
        raise OSError(errno.EIO, "broken")

    def half_then_broken(fd, data, position):
        pwrite(fd, data[:2], position)
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "pwrite", half_then_broken)
    monkeypatch.setattr(os, "ftruncate", broken)
    with pytest.raises(OSError, match="broken"):
        file.append(b"bad")
    monkeypatch.undo()

    file.append(b"good")

    assert (tmp_path / "a").read_bytes() == b"good"


def test_a_read_that_gives_less_than_asked_for_is_carried_on(disk, tmp_path, monkeypatch):
    file = disk.open(f"{tmp_path}/a")
    file.append(b"0123456789")
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, position: pread(fd, min(length, 4), position))

    assert file.read(1, 100) == b"123456789"


def test_a_small_file_that_cannot_be_written_leaves_the_old_one_and_no_draft(disk, tmp_path, monkeypatch):
    disk.write_file(f"{tmp_path}/a", b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no room"):
        disk.write_file(f"{tmp_path}/a", b"new")

    assert disk.names(str(tmp_path)) == {"a": 3}
    assert disk.read_file(f"{tmp_path}/a") == b"old"


def test_a_removed_file_that_is_being_read_gives_its_descriptor_back(disk, tmp_path):
    before = open_descriptors(tmp_path)
    file = disk.open(f"{tmp_path}/large")
    file.append(bytes(2 << 20))

    disk.remove(f"{tmp_path}/large")

    assert not os.path.exists(f"{tmp_path}/large")
    disk.close_all()
    assert open_descriptors(tmp_path) == before


def test_a_directory_in_use_is_refused_to_a_second_owner(disk, tmp_path):
    disk.lock(str(tmp_path))

    with pytest.raises(AndironError, match=f"{tmp_path} is in use by another process"):
        PosixDisk().lock(str(tmp_path))

    disk.close_all()
    again = PosixDisk()
    again.lock(str(tmp_path))
    again.close_all()


def test_a_directory_in_use_is_refused_to_another_process_whichever_lock_it_takes(disk, tmp_path):
    disk.lock(str(tmp_path))
    attempt = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"

    done = subprocess.run(
        [sys.executable, "-c", attempt, f"{tmp_path}/.lock"], stderr=subprocess.PIPE, check=False
    )

    assert b"BlockingIOError" in done.stderr


def test_usage_is_what_the_file_system_says(disk, tmp_path):
    total, free = disk.usage(str(tmp_path))

    assert 0 < free <= total


def test_reads_and_writes_are_timed_now_and_then(disk, tmp_path):
    file = disk.open(f"{tmp_path}/f")
    for _ in range(ONE_IN + 1):
        file.append(b"x")
        file.read(0, 1)

    assert sum(disk.times.writes.histogram.counts) == sum(disk.times.reads.histogram.counts) == 2


def test_a_write_that_failed_is_not_timed_and_the_next_are(disk, tmp_path, monkeypatch):
    file = disk.open(f"{tmp_path}/f")
    with monkeypatch.context() as broken, pytest.raises(OSError, match="full"):
        broken.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        file.append(b"x")
    for _ in range(ONE_IN):
        file.append(b"x")

    assert sum(disk.times.writes.histogram.counts) == 1


def test_what_it_makes_is_not_for_everybody_to_read(tmp_path):
    before = os.umask(0)
    try:
        disk = PosixDisk()
        disk.make_directory(f"{tmp_path}/data/orders-0")
        disk.open(f"{tmp_path}/data/orders-0/0.log").append(b"secret")
        disk.write_file(f"{tmp_path}/data/meta.properties", b"")
        disk.lock(f"{tmp_path}/data")
        disk.close_all()
    finally:
        os.umask(before)

    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "data").rglob("*")}
    assert modes == {"orders-0": 0o750, "0.log": 0o640, "meta.properties": 0o640, ".lock": 0o640}


def test_many_files_and_directories_are_synced_and_those_that_fail_are_told_by_their_paths(
    disk, tmp_path, monkeypatch
):
    files = [disk.open(f"{tmp_path}/{number}") for number in range(100)]
    for file in files:
        file.append(b"x")
    bad = os.stat(files[7].path).st_ino
    synced = []

    def sync(fd):
        if os.fstat(fd).st_ino == bad:
            raise OSError(errno.EIO, "a bad sector")
        synced.append(fd)

    monkeypatch.setattr("andiron.edge.disk.sync_data", sync)
    monkeypatch.setattr(os, "fsync", sync)
    before = open_descriptors(tmp_path)

    failed = disk.sync_all(files, [str(tmp_path)])

    assert list(failed) == [files[7].path]
    assert len(synced) == 100
    assert open_descriptors(tmp_path) == before
