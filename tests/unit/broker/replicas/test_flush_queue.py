"""One fsync at a time for each partition, and what becomes of it."""

import pytest

from andiron.broker.replicas.flush_queue import FlushQueue
from andiron.broker.replicas.partition import Partition
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.effects import Flushed
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk


@pytest.fixture
def disk():
    return MemoryDisk()


@pytest.fixture
def flushing():
    return FlushQueue()


def leading(disk, number=0):
    name, topic_id = TopicPartition("t", number), b"\x01" * 16
    log = PartitionLog.open(
        LogFolder(disk, f"/data/{name}"),
        TopicIdPartition(topic_id, name),
        LogSettings(flush_messages=1),
        now=0,
    )
    partition = Partition(name, topic_id, log)
    partition.lead(LeaderAndIsr(1, 0, frozenset({1}), frozenset({1})), watermark=0, now=0, lag_ms_max=1_000)
    return partition


def append(partition):
    partition.append_own(build([Record(0, 0, None, b"x")]), 0)


def test_nothing_wanted_is_nothing_to_do(flushing):
    assert flushing.start(0) == []


def test_a_flush_is_for_the_files_of_the_log(disk, flushing):
    partition = leading(disk)
    append(partition)
    flushing.want(partition)

    [flush] = flushing.start(0)

    assert partition.log.segments.active.file in flush.files
    assert flushing.start(0) == []


def test_a_flush_vouches_for_what_was_there_when_it_began(disk, flushing):
    partition = leading(disk)
    append(partition)
    flushing.want(partition)
    [flush] = flushing.start(0)
    append(partition)

    assert flushing.done(Flushed(flush.token), 0) is partition

    assert (partition.log.flushed_end, partition.watermark) == (1, 1)


def test_what_is_wanted_meanwhile_waits_for_the_one_under_way(disk, flushing):
    partition = leading(disk)
    append(partition)
    flushing.want(partition)
    [first] = flushing.start(0)
    append(partition)
    flushing.want(partition)
    flushing.want(partition)
    assert flushing.start(0) == []

    flushing.done(Flushed(first.token), 0)
    [second] = flushing.start(0)
    flushing.done(Flushed(second.token), 0)

    assert partition.log.flushed_end == 2


def test_partitions_do_not_wait_for_each_other(disk, flushing):
    partitions = [leading(disk, number) for number in range(3)]
    for partition in partitions:
        append(partition)
        flushing.want(partition)

    flushes = flushing.start(0)

    assert len({flush.token for flush in flushes}) == 3
    for flush, partition in zip(reversed(flushes), reversed(partitions), strict=True):
        assert flushing.done(Flushed(flush.token), 0) is partition


def test_a_failed_flush_ends_the_partition(disk, flushing):
    partition = leading(disk)
    append(partition)
    flushing.want(partition)
    [flush] = flushing.start(0)

    flushing.done(Flushed(flush.token, "EIO"), 0)

    assert "EIO" in partition.failure
    assert partition.log.flushed_end == 0


def test_a_flush_that_cannot_begin_is_told_and_may_be_tried_again(disk, flushing):
    partition = leading(disk)
    append(partition)
    disk.fill_up()
    flushing.want(partition)

    assert flushing.start(0) == []
    assert (flushing.take_refused(), flushing.take_refused()) == ([partition], [])
    assert "no space" in partition.flush_trouble

    disk.free_up()
    flushing.want(partition)
    [flush] = flushing.start(0)
    flushing.done(Flushed(flush.token), 0)
    assert (partition.flush_trouble, partition.failure, partition.log.flushed_end) == (None, None, 1)


def test_a_flush_that_goes_on_failing_to_begin_is_in_the_log_once_a_minute(disk, flushing, caplog):
    partition = leading(disk)
    append(partition)
    disk.fill_up()
    for second in range(61):
        flushing.want(partition)
        flushing.start(second * 1_000)

    assert [message.rpartition(" ")[2] for message in caplog.messages] == ["suppressed=0", "suppressed=59"]


def test_a_partition_that_is_forgotten_is_not_flushed_any_more(disk, flushing):
    partition = leading(disk)
    append(partition)
    flushing.want(partition)

    flushing.forget(partition)

    assert flushing.start(0) == []


def test_a_file_that_is_no_partitions_is_synced_once_and_its_owner_told(disk, flushing):
    disk.make_directory("/data")
    file, told = disk.open("/data/x"), []
    flushing.sync(file, lambda error, now: told.append((error, now)))

    [flush] = flushing.start(0)
    assert flush.files == (file,)
    assert flushing.start(0) == []
    assert flushing.done(Flushed(flush.token, "gone"), 7) is None
    assert told == [("gone", 7)]
