from __future__ import annotations

import os
import threading

import pytest

from andiron.edge import flusher as flusher_module
from andiron.edge.disk import PosixDisk
from andiron.edge.flusher import Flusher
from andiron.edge.metrics.meter import Histogram
from andiron.model.effects import Flushed


class Syncs:
    """Counts syncs by file name, and holds the first one until told to go on."""

    def __init__(self, folder):
        self.names, self.broken = [], set()
        self._folder = folder
        self.entered, self.go_on = threading.Event(), threading.Event()

    def __call__(self, fd):
        inode = os.fstat(fd).st_ino
        named = (path.name for path in self._folder.iterdir() if path.stat().st_ino == inode)
        name = next(named, "removed")
        self.names.append(name)
        self.entered.set()
        assert self.go_on.wait(10)
        if name in self.broken:
            raise OSError(5, f"{name} is broken")


@pytest.fixture
def disk():
    disk = PosixDisk()
    yield disk
    disk.close_all()


@pytest.fixture
def syncs(monkeypatch, tmp_path):
    syncs = Syncs(tmp_path)
    monkeypatch.setattr(flusher_module, "sync_data", syncs)
    return syncs


def test_a_flush_is_done_and_says_so(disk, tmp_path):
    woken = threading.Event()
    flusher = Flusher(woken.set)
    file = disk.open(f"{tmp_path}/a")
    file.append(b"data")

    flusher.submit(7, [file])

    assert woken.wait(10)
    assert flusher.completed() == [Flushed(7)]
    assert flusher.completed() == []
    flusher.drain()


def test_flushes_that_wait_together_cost_one_sync_a_file(disk, tmp_path, syncs):
    flusher = Flusher(lambda: None)
    a, b = disk.open(f"{tmp_path}/a"), disk.open(f"{tmp_path}/b")

    flusher.submit(1, [a])
    assert syncs.entered.wait(10)
    for token in range(2, 10):  # these come while the first sync runs, so it does not cover them
        flusher.submit(token, [a, b])
    syncs.go_on.set()
    flusher.drain()

    assert syncs.names == ["a", "a", "b"]
    assert flusher.completed() == [Flushed(token) for token in range(1, 10)]


def test_an_error_reaches_every_flush_that_counted_on_the_file(disk, tmp_path, syncs):
    flusher = Flusher(lambda: None)
    a, b = disk.open(f"{tmp_path}/a"), disk.open(f"{tmp_path}/b")
    syncs.broken.add("b")
    syncs.go_on.set()

    flusher.submit(1, [a])
    flusher.submit(2, [a, b])
    flusher.submit(3, [b])
    flusher.drain()

    broken = "[Errno 5] b is broken"
    assert flusher.completed() == [Flushed(1), Flushed(2, broken), Flushed(3, broken)]


def test_a_file_closed_or_removed_after_the_flush_was_asked_for_is_no_error(disk, tmp_path, syncs):
    flusher = Flusher(lambda: None)
    a, b = disk.open(f"{tmp_path}/a"), disk.open(f"{tmp_path}/b")
    flusher.submit(1, [a])
    assert syncs.entered.wait(10)
    flusher.submit(2, [a, b])

    a.close()
    disk.remove(f"{tmp_path}/b")
    syncs.go_on.set()
    flusher.drain()

    assert flusher.completed() == [Flushed(1), Flushed(2)]


def test_a_file_removed_before_has_nothing_to_flush(disk, tmp_path):
    flusher = Flusher(lambda: None)
    file = disk.open(f"{tmp_path}/a")
    disk.remove(f"{tmp_path}/a")

    flusher.submit(1, [file])
    flusher.drain()

    assert flusher.completed() == [Flushed(1)]


def test_a_file_that_vanished_by_itself_is_an_error(disk, tmp_path):
    flusher = Flusher(lambda: None)
    file = disk.open(f"{tmp_path}/a")
    os.unlink(f"{tmp_path}/a")

    flusher.submit(1, [file])
    flusher.drain()

    ((token, error),) = flusher.completed()
    assert token == 1
    assert "No such file" in error


def test_no_descriptor_is_left_behind(disk, tmp_path):
    flusher = Flusher(lambda: None)
    files = [disk.open(f"{tmp_path}/{n}") for n in range(5)]
    for file in files:
        file.fd()
    before = len(os.listdir("/dev/fd"))

    for token in range(50):
        flusher.submit(token, files)
    flusher.drain()

    assert len(os.listdir("/dev/fd")) == before
    assert len(flusher.completed()) == 50


def test_after_draining_it_can_be_used_again(disk, tmp_path):
    flusher = Flusher(lambda: None)
    file = disk.open(f"{tmp_path}/a")
    flusher.drain()

    for token in (1, 2):
        flusher.submit(token, [file])
        flusher.drain()

    assert flusher.completed() == [Flushed(1), Flushed(2)]


def test_a_disk_may_have_a_way_of_its_own_to_sync(disk, tmp_path):
    synced = []
    flusher = Flusher(lambda: None, synced.append)

    flusher.submit(1, [disk.open(f"{tmp_path}/a")])
    flusher.drain()

    assert (len(synced), flusher.completed()) == (1, [Flushed(1)])


def test_each_sync_is_timed_in_its_thread(disk, tmp_path):
    times = Histogram()
    flusher = Flusher(lambda: None, times=times)
    file = disk.open(f"{tmp_path}/f")
    flusher.submit(1, [file])
    flusher.drain()
    flusher.submit(2, [file])
    flusher.drain()

    assert sum(times.counts) == 2
