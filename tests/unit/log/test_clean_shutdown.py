"""A clean stop of many logs: together, each whole, and one that fails alone."""

from __future__ import annotations

import errno
import random

import pytest

from andiron.log.checkpoints import LogCheckpoint
from andiron.log.clean_shutdown import CleanShutdown
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.sim.disk import MemoryDisk
from unit.log.logs import append


class CountingDisk(MemoryDisk):
    """Counts how often it is waited for, and refuses to sync what is named."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = 0
        self.refuses = "nothing"

    def sync_all(self, files, directories):
        self.rounds += 1
        return super().sync_all(files, directories)

    def check_sync(self, path):
        super().check_sync(path)
        if self.refuses in path:
            raise OSError(errno.EIO, "a bad sector", path)


def open_one(disk, number, **how):
    name = TopicPartition("t", number)
    return PartitionLog.open(
        LogFolder(disk, f"/data/t-{number}"),
        TopicIdPartition(b"0123456789abcdef", name),
        LogSettings(),
        now=0,
        **how,
    )


def logs(disk, count=3):
    opened = [open_one(disk, number) for number in range(count)]
    for each in opened:
        append(each, 2)
    return opened


def close(disk, opened):
    closing = CleanShutdown(disk, opened)
    closing.close()
    return closing.failed


def test_many_logs_are_waited_for_twice_and_not_one_after_the_other():
    disk = CountingDisk()
    assert close(disk, logs(disk, 50)) == {}
    assert disk.rounds == 2


def test_all_of_them_are_there_after_a_power_cut():
    for seed in range(20):
        disk = CountingDisk()
        opened = logs(disk)
        close(disk, opened)
        disk.crash(random.Random(seed))
        for number in range(3):
            again = open_one(disk, number, checkpoint=LogCheckpoint(2, clean=True))
            assert (again.end, again.notices, again.epochs.latest) == (2, [], opened[number].epochs.latest)


@pytest.mark.parametrize(
    "refused", ["t-1/00000000000000000000.log", "t-1/leader-epoch-checkpoint.tmp", "t-1"]
)
def test_one_that_does_not_get_there_fails_alone(refused):
    disk = CountingDisk()
    opened = logs(disk)
    disk.refuses = refused

    failed = close(disk, opened)

    assert list(failed) == [opened[1]]
    assert failed[opened[1]].code is ErrorCode.KAFKA_STORAGE_ERROR
    assert [each.flushed_end for each in opened] == [2, 0, 2]


def test_one_that_cannot_be_written_fails_alone_and_by_itself_it_raises(monkeypatch):
    disk = CountingDisk()
    opened = logs(disk, 2)
    disk.fill_up(0)

    assert list(close(disk, opened)) == opened
    with pytest.raises(ProtocolError, match="t-0"):
        opened[0].close()
