"""Markers: one for each partition, each with an outcome of its own, told when it is committed."""

import pytest

from andiron.broker.coordinators.marker_writer import MarkerWriter
from andiron.broker.node.patience import MARKER_MS
from andiron.broker.replicas.partition import Marker, Partition
from andiron.groups.records import TransactionEnded
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.batch import iterate
from andiron.records.builder import build
from andiron.records.control import end_marker_of
from andiron.records.record import Record
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk
from worlds.noting import NotedStep

ID, ALONE = b"\x01" * 16, frozenset({1})
A, B, OFFSETS = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("__consumer_offsets", 2)
NOW = 1_000


class Groups:
    """Notes what the groups of a partition are told."""

    def __init__(self):
        self.told = []

    def transaction_ended(self, partition, offset, ended):
        self.told.append((partition.name, offset, ended))


class World:
    """Partitions, and whoever writes markers to them."""

    def __init__(self):
        self.partitions, self.groups, self.step, self.image = {}, Groups(), NotedStep(), None
        self.writer = MarkerWriter(metadata=self, replica_manager=self, groups=self.groups, step=self.step)

    def find(self, topic, index, image):
        if (topic, index) not in self.partitions:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error("not here")
        return self.partitions[topic, index]

    def host(self, name, **settings):
        log = PartitionLog.open(
            LogFolder(MemoryDisk(), f"/data/{name}"),
            TopicIdPartition(ID, name),
            LogSettings(**settings),
            now=0,
        )
        partition = self.partitions[name] = Partition(name, ID, log)
        partition.lead(LeaderAndIsr(1, 0, ALONE, ALONE), watermark=0, now=0, lag_ms_max=1_000)
        return partition

    def write(self, *names, marker=None):
        return self.writer.write(marker or of_producer(), list(names), NOW)

    def outcome(self, *names, marker=None):
        wait = self.write(*names, marker=marker)
        assert wait.until()
        return wait.then()


def of_producer(epoch=0, committed=True, version=0, id=7):
    return Marker(id, epoch, committed, coordinator_epoch=3, transaction_version=version)


def opened(partition, epoch=0):
    """A transaction is open in a partition."""
    batch = build(
        [Record(0, 0, None, b"v")], producer_id=7, producer_epoch=epoch, base_sequence=0, transactional=True
    )
    partition.append(memoryview(batch), 1, 12, 0, partition.guards.begin(7, epoch, 0))


def flush(partition):
    _, end = partition.log.unflushed_files()
    partition.note_flushed(end)


@pytest.fixture
def world():
    return World()


def test_every_partition_gets_its_marker(world):
    partitions = [world.host(A), world.host(B)]
    for partition in partitions:
        opened(partition)

    assert world.outcome(A, B) == {A: ErrorCode.NONE, B: ErrorCode.NONE}

    assert [partition.readable_end(True) for partition in partitions] == [2, 2]
    assert [written[0].name for written in world.step.written] == [A, B]
    [_, last] = iterate(partitions[0].log.read(0, 1_000, 2).read())
    assert (last.producer_id, last.producer_epoch, last.leader_epoch) == (7, 0, 0)
    assert end_marker_of(last) == (True, 3)


def test_a_partition_that_is_not_here_does_not_hold_up_markers_of_others(world):
    world.host(B)

    assert world.outcome(A, B) == {A: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, B: ErrorCode.NONE}


def test_a_partition_that_refuses_a_marker_says_why(world):
    opened(world.host(A), epoch=5)

    assert world.outcome(A) == {A: ErrorCode.INVALID_PRODUCER_EPOCH}
    assert world.step.written == []


def test_of_no_partitions_there_is_nothing_to_wait_for(world):
    assert world.outcome() == {}


def test_a_marker_counts_when_it_is_committed(world):
    durable, other = world.host(A, flush_messages=1), world.host(B)

    wait = world.write(A, B)
    assert wait.watch == (durable, other)
    assert not wait.until()
    flush(durable)

    assert wait.until()
    assert wait.then() == {A: ErrorCode.NONE, B: ErrorCode.NONE}


def test_a_marker_sent_twice_counts_when_the_first_is_committed(world):
    partition = world.host(A, flush_messages=1)
    again = of_producer(epoch=1, version=2)
    first = world.write(A, marker=again)
    second = world.write(A, marker=again)
    assert not second.until(), "until then it may be lost, and nobody would write it any more"

    flush(partition)

    assert first.until() and second.until()
    assert len(world.step.written) == 1


def test_at_the_deadline_those_that_are_not_committed_are_too_late(world):
    world.host(A, flush_messages=1)
    world.host(B)

    wait = world.write(A, B)
    wait.until()

    assert wait.deadline == NOW + MARKER_MS
    assert wait.otherwise() == {A: ErrorCode.REQUEST_TIMED_OUT, B: ErrorCode.NONE}


def test_a_partition_that_fails_meanwhile_is_waited_for_no_longer(world):
    durable = world.host(A, flush_messages=1)
    wait = world.write(A)

    durable.fail("the disk is on fire")

    assert wait.until()
    assert wait.then() == {A: ErrorCode.KAFKA_STORAGE_ERROR}


@pytest.mark.parametrize("committed", [True, False])
def test_groups_whose_offsets_were_part_of_it_are_told(world, committed):
    world.host(OFFSETS)
    world.host(A)

    world.outcome(A, OFFSETS, marker=of_producer(committed=committed))

    assert world.groups.told == [(OFFSETS, 0, TransactionEnded(7, committed))]


def test_groups_are_not_told_of_a_marker_that_was_here_before(world):
    world.host(OFFSETS)
    again = of_producer(epoch=1, version=2)
    world.outcome(OFFSETS, marker=again)

    assert world.outcome(OFFSETS, marker=again) == {OFFSETS: ErrorCode.NONE}

    assert len(world.groups.told) == len(world.step.written) == 1
