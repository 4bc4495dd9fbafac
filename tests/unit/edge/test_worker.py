"""Jobs here are built from the standard library, so that the child can unpickle them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from operator import attrgetter, methodcaller
from types import SimpleNamespace

import pytest

from andiron.edge.disk import PosixDisk
from andiron.edge.worker import Worker
from andiron.log.cleaner import CleanableLog, Cleaner
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import TopicId, TopicIdPartition, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of


class Wakes:
    """Counts wake-ups and lets a test wait for the next one."""

    def __init__(self):
        self._semaphore = threading.Semaphore(0)

    def __call__(self):
        self._semaphore.release()

    def wait(self):
        assert self._semaphore.acquire(timeout=30)


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (3,)


class Stuck:
    """Never comes back."""

    def __reduce__(self):
        return threading.Event.wait, (Forgotten(),)


class Forgotten:
    def __reduce__(self):
        return threading.Event, ()


@pytest.fixture
def wakes():
    return Wakes()


@pytest.fixture
def worker(wakes):
    worker = Worker(wakes)
    yield worker
    worker.close()


def job(run, **attributes):
    return SimpleNamespace(run=run, **attributes)


def some(worker, wakes, count):
    """The next so many that finish; several may at once."""
    finished = []
    while len(finished) < count:
        wakes.wait()
        finished += worker.completed()
    return finished


def one(worker, wakes):
    (finished,) = some(worker, wakes, 1)
    return finished


def test_a_job_runs_on_a_disk_of_its_own(worker, wakes, tmp_path):
    (tmp_path / "a").write_bytes(b"content")

    worker.submit(5, job(methodcaller("read_file", f"{tmp_path}/a")))

    assert one(worker, wakes) == (5, b"content", None)


def test_a_job_that_raises_says_why_and_the_next_one_runs(worker, wakes, tmp_path):
    worker.submit(1, job(methodcaller("read_file", f"{tmp_path}/none")))
    worker.submit(2, job(methodcaller("exists", f"{tmp_path}/none")))

    (token, result, error), second = some(worker, wakes, 2)
    assert (token, result) == (1, None)
    assert error.startswith("FileNotFoundError: ")
    assert second == (2, False, None)


def test_a_child_that_dies_fails_its_job_and_is_replaced(worker, wakes, tmp_path):
    worker.submit(1, Deadly())
    worker.submit(2, job(methodcaller("exists", str(tmp_path))))

    assert some(worker, wakes, 2) == [
        (1, None, "the worker process is gone (exit status 3): no answer"),
        (2, True, None),
    ]


def test_jobs_are_kept_to_the_rate_they_name(worker, wakes):
    worker.submit(1, job(attrgetter("_bytes_per_second_max"), bytes_per_second_max=1000.0))

    assert one(worker, wakes) == (1, 1000.0, None)


def test_what_cannot_be_pickled_fails_whichever_way_it_goes(worker, wakes):
    worker.submit(1, job(lambda disk: None))
    worker.submit(2, job(attrgetter("_reaper")))

    there, back = some(worker, wakes, 2)
    assert there.error.startswith("the job cannot be sent: ")
    assert "pickle" in back.error


def test_closing_does_not_wait_for_a_job(wakes):
    worker = Worker(wakes)
    worker.submit(1, Stuck())
    worker.submit(2, Stuck())
    while worker._child is None:
        assert not wakes._semaphore.acquire(timeout=0.01)

    worker.close()

    assert [finished.token for finished in worker.completed()] == [1, 2]


def test_the_child_ends_with_its_parent_in_the_middle_of_a_job():
    parent = f"""
import os, sys
sys.path[:] = {[*sys.path, os.path.dirname(__file__)]!r}
from test_worker import Stuck
from andiron.edge.disk import PosixDisk
from andiron.edge.worker import Worker
from andiron.log.cleaner import Cleaner
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import TopicId, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of
worker = Worker(print)
worker.submit(1, Stuck())
while worker._child is None: pass
print(worker._child.pid, flush=True)
os._exit(9)
"""
    started = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    pid = int(started.stdout.readline())
    started.stdout.close()
    assert started.wait(30) == 9

    with pytest.raises(ProcessLookupError):
        for _ in range(3000):
            os.kill(pid, 0)
            threading.Event().wait(0.01)


def test_the_child_gets_the_pipes_and_nothing_else(worker, wakes):
    worker.submit(1, job(methodcaller("names", "/dev/fd")))

    names = one(worker, wakes).result
    # 0-2, the answers' copy of 1, and the directory being listed
    assert len(names) <= 5


def test_a_log_is_compacted_in_the_child(worker, wakes, tmp_path):
    disk, folder = PosixDisk(), f"{tmp_path}/t-0"
    settings = LogSettings(cleanup_policy=("compact",), segment_bytes=200, min_cleanable_dirty_ratio=0.1)
    log = PartitionLog.open(
        LogFolder(disk, folder),
        TopicIdPartition(TopicId(bytes(range(16))), TopicPartition("t", 0)),
        settings,
        now=1,
    )
    for offset in range(9):
        batch = build([Record(0, 1, b"key", b"%d" % offset)])
        log.append(Batch(batch), 0, 1)
    files, end = log.unflushed_files()
    for file in files:
        file.sync()
    log.note_flushed(end)  # what is not on the disk is not compacted
    cleaner = Cleaner(disk)

    worker.submit(1, cleaner.next_job([CleanableLog(log, log.end, None)], 1))
    finished = one(worker, wakes)

    assert finished.error is None
    assert cleaner.finish(finished.result, finished.error, 1).log is log
    found = log.read(0, 1 << 20, log.end)
    assert [record.value for batch in iterate(found.read()) for record in records_of(batch)] == [b"7"]
    disk.close_all()


def test_the_child_does_not_load_the_server():
    loaded = "import sys, andiron.edge.worker; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    ).stdout

    assert not {"andiron.broker", "andiron.controller", "andiron.wire", "asyncio", "socket"} & set(
        modules.split()
    )
