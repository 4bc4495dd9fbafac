"""Machines that come and go with their partitions."""

import logging
from types import SimpleNamespace

import pytest

from andiron.broker.coordinators.coordinator import Coordinator, Plan, partition_of
from andiron.broker.coordinators.shard import data_records
from andiron.broker.node.patience import COORDINATOR_RETRY_MS
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, TopicIdPartition, TopicPartition
from andiron.model.machine import Decision, LogLoaded, Promise, TimePassed
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk
from worlds.noting import NotedStep

ID, ALONE = b"\x01" * 16, frozenset({1})


class Notes:
    """Remembers what it is told; "wait" is answered when the time comes, "soft" changes its mind only, and
    "remind" has a line written after a while."""

    def __init__(self):
        self.lines, self.mind, self.asked, self.due = [], [], [], NEVER
        self.promise = None

    def decide(self, request, now):
        self.asked.append(request)
        if isinstance(request, LogLoaded):
            return Decision(None)
        if isinstance(request, TimePassed) and self.promise is None:
            return Decision(None, ["time is up"])
        if isinstance(request, TimePassed):
            self.due = NEVER
            self.promise.keep("time is up")
            return Decision(None, kept=[self.promise])
        if request == "wait":
            self.promise, self.due = Promise(), now + 100
            return Decision(self.promise)
        if request == "remind":
            self.due = now + 100
            return Decision(None)
        if request == "refuse":
            raise ErrorCode.UNKNOWN_MEMBER_ID.error("nobody")
        self.mind.append(request)
        return Decision(len(self.lines), [request], firm=request != "soft")

    def replay(self, record, offset):
        self.lines.append(record)
        self.due = NEVER

    def next_deadline(self):
        return self.due


class World:
    """A coordinator over partitions on one disk."""

    def __init__(self):
        self.disk, self.step = MemoryDisk(), NotedStep()
        self.coordinator = Coordinator(
            "notes",
            Plan(
                machine=lambda partition: Notes(),
                encode=lambda line: (None, line.encode()),
                read=lambda batch: [(each.offset, each.value.decode()) for each in data_records(batch)],
                owes=True,
            ),
            self.step,
        )

    def partition(self, index=0, epoch=0):
        name = TopicPartition("notes", index)
        log = PartitionLog.open(
            LogFolder(self.disk, f"/data/{name}"), TopicIdPartition(ID, name), LogSettings(), now=0
        )
        partition = Partition(name, ID, log)
        self.lead(partition, epoch)
        return partition

    def lead(self, partition, epoch):
        partition.lead(
            LeaderAndIsr(1, epoch, ALONE, ALONE), watermark=partition.log.end, now=0, lag_ms_max=1_000
        )

    def serve(self, partition):
        self.coordinator.follow(partition, 0)
        while self.coordinator.loading:
            self.coordinator.tick(0)

    def run(self, request, now=0, index=0):
        return self.coordinator.run(index, request, now, 1_000)

    def ask(self, request, now=0, index=0):
        wait = self.run(request, now, index)
        assert wait.until()
        return wait.then()

    def refused(self, request, index=0):
        with pytest.raises(ProtocolError) as caught:
            self.ask(request, index=index)
        return caught.value.code

    def machine(self, index=0):
        return self.coordinator.shard(index).machine


@pytest.fixture
def world():
    return World()


def test_a_machine_is_loaded_before_it_serves(world):
    partition = world.partition()
    assert world.refused("a") is ErrorCode.NOT_COORDINATOR
    partition.append_own(build([Record(0, 0, None, b"before")]), 0)

    world.coordinator.follow(partition, 7)
    assert world.coordinator.next_deadline() == 7
    assert world.refused("a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.coordinator.tick(7)

    assert world.ask("a") == 1
    assert world.machine().asked[0] == LogLoaded()


def test_there_is_nothing_to_load_of_a_new_partition(world):
    world.coordinator.follow(world.partition(), 0)

    assert world.ask("a") == 0


def test_what_was_written_is_known_to_the_next_machine(world):
    partition = world.partition()
    world.serve(partition)
    world.ask("a")
    before = world.machine()

    world.lead(partition, epoch=1)
    world.serve(partition)

    assert world.machine() is not before
    assert world.machine().lines == ["a"]


def test_news_of_a_partition_that_is_led_as_before_changes_nothing(world):
    partition = world.partition()
    world.serve(partition)
    before = world.machine()

    world.coordinator.follow(partition, 0)

    assert world.machine() is before


def test_who_waits_is_sent_away_when_the_partition_goes(world):
    partition = world.partition()
    world.serve(partition)
    shard, wait = world.coordinator.shard(0), world.run("wait")

    partition.retire()
    world.coordinator.follow(partition, 0)

    assert world.step.touched == [shard] and wait.until()
    assert wait.then().or_else(lambda error: error.code).then() is ErrorCode.NOT_COORDINATOR
    assert world.refused("a") is ErrorCode.NOT_COORDINATOR


def test_a_deadline_is_seen_to_when_it_comes(world):
    world.serve(world.partition())
    wait = world.run("wait", now=50)
    assert world.coordinator.next_deadline() == 150

    world.coordinator.tick(149)
    assert not wait.until()
    world.coordinator.tick(150)

    assert isinstance(wait.then(), Wait) and wait.then().then() == "time is up"
    assert world.coordinator.next_deadline() == NEVER


def test_what_is_due_and_cannot_be_written_is_tried_again(world, caplog):
    world.serve(world.partition())
    world.ask("remind", now=50)
    world.disk.fill_up()

    with caplog.at_level(logging.WARNING):
        world.coordinator.tick(150)
    assert (world.machine().lines, world.coordinator.next_deadline()) == ([], 150 + COORDINATOR_RETRY_MS)
    assert "Coordinator of partition notes-0 cannot write what is due" in caplog.text
    world.disk.free_up()
    world.coordinator.tick(150 + COORDINATOR_RETRY_MS)

    assert (world.machine().lines, world.coordinator.next_deadline()) == (["time is up"], NEVER)


def test_a_log_that_cannot_be_read_is_not_served_and_the_others_are(world, caplog):
    broken, sound = world.partition(), world.partition(1)
    for partition in (broken, sound):
        partition.append_own(build([Record(0, 0, None, b"before")]), 0)

    def read(*how):
        raise ErrorCode.KAFKA_STORAGE_ERROR.error("the disk is on fire")

    broken.log = SimpleNamespace(start=0, end=1, read=read)
    with caplog.at_level(logging.ERROR):
        for partition in (broken, sound):
            world.coordinator.follow(partition, 0)
            world.coordinator.tick(0)

    assert "Coordinator of partition notes-0 cannot read its log" in caplog.text
    assert 'error="the disk is on fire"' in caplog.text
    assert world.refused("a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.ask("a", index=1) == 1


def test_a_refusal_is_told_as_it_is(world):
    world.serve(world.partition())

    assert world.refused("refuse") is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_disk_that_takes_nothing_sends_clients_to_look_again(world):
    world.serve(world.partition())
    before = world.machine()
    world.disk.fill_up()

    assert world.refused("a") is ErrorCode.NOT_COORDINATOR
    world.disk.free_up()

    assert world.machine() is before and before.lines == []


def test_a_machine_that_changed_its_mind_in_vain_is_loaded_again(world):
    world.serve(world.partition())
    world.ask("a")
    before = world.machine()
    world.disk.fill_up()

    assert world.refused("soft") is ErrorCode.NOT_COORDINATOR
    assert world.refused("a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.coordinator.tick(0)

    assert world.machine() is not before
    assert (world.machine().lines, world.machine().mind) == (["a"], [])


def test_a_shard_that_has_decided_owes_that_to_others_where_the_plan_says_so(world):
    world.serve(world.partition())
    world.coordinator.owing.clear()

    world.ask("a")

    assert list(world.coordinator.owing) == [world.coordinator.shard(0)]
    assert list(world.coordinator) == list(world.coordinator.owing)


@pytest.mark.parametrize(
    ("key", "partition"),
    # As Kafka's Utils.abs("…".hashCode()) % 50 has it.
    [("", 0), ("my-group", 12), ("test", 48), ("group-é", 33), ("polygenelubricants", 0), ("😀", 49)],
)
def test_names_have_the_partitions_that_they_have_in_kafka(key, partition):
    assert partition_of(key, 50) == partition


def test_a_log_that_would_not_be_read_is_loaded_later_from_its_start(world, monkeypatch):
    partition = world.partition()
    partition.append_own(build([Record(0, 0, None, b"before")]), 0)
    world.coordinator.follow(partition, 0)
    read = partition.log.read
    monkeypatch.setattr(PartitionLog, "read", lambda *_, **__: _refuse())

    world.coordinator.tick(0)
    assert world.refused("a") is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.coordinator.next_deadline() == COORDINATOR_RETRY_MS
    monkeypatch.setattr(PartitionLog, "read", lambda _, *given, **named: read(*given, **named))
    world.coordinator.tick(COORDINATOR_RETRY_MS)

    assert world.ask("a") == 1
    assert world.machine().lines == ["before", "a"]


def _refuse():
    raise ErrorCode.KAFKA_STORAGE_ERROR.error("the disk is away")


def test_only_a_loaded_shard_of_this_very_partition_serves_it(world):
    partition = world.partition()
    assert world.coordinator.serving(partition) is None

    world.serve(partition)

    assert world.coordinator.serving(partition) is world.coordinator.shard(0)
    assert world.coordinator.serving(world.partition(epoch=1)) is None
