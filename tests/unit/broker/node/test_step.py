"""What is noted in a step, and what the end of it finds."""

import pytest

from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.broker.replicas.partition import Partition
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.effects import Close
from andiron.model.ids import NEVER, TopicIdPartition, TopicPartition
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk

NAME, ID, ALONE = TopicPartition("t", 0), b"\x01" * 16, frozenset({1})


class Watcher:
    """A fetch session, or what a step knows of one."""

    def __init__(self, is_replicas=False):
        self.is_replicas, self.seen = is_replicas, []

    def moved(self, partition):
        self.seen.append(partition)


@pytest.fixture
def room():
    return WaitingRoom()


@pytest.fixture
def step(room):
    return Step(room)


def leading(**settings):
    log = PartitionLog.open(
        LogFolder(MemoryDisk(), "/data/t-0"), TopicIdPartition(ID, NAME), LogSettings(**settings), now=0
    )
    partition = Partition(NAME, ID, log)
    partition.lead(LeaderAndIsr(1, 0, ALONE, ALONE), watermark=0, now=0, lag_ms_max=1_000)
    return partition


def append(partition):
    return partition.append_own(build([Record(0, 0, None, b"v")]), 0)


def await_(room, *keys):
    """A request waits for these."""
    room.admit(Wait(keys, lambda: False, NEVER, lambda: None, lambda: None), 1, lambda respond: [])


def test_what_nobody_waits_for_leaves_no_trace(step):
    partition = leading()
    append(partition)
    step.appended(partition, append(partition))
    step.touch("key")

    assert not step.has_facts
    assert step.take_touched() == [] and step.take_flushes() == ([], [])


def test_what_somebody_waits_for_is_told_once_in_the_order_in_which_it_happened(step, room):
    await_(room, "a", "b")
    for key in ("b", "a", "b"):
        step.touch(key)

    assert step.has_facts
    assert step.take_touched() == ["b", "a"]
    assert step.take_touched() == []


def test_a_batch_wakes_who_watches_the_partition_and_the_sessions_that_do(step, room):
    partition, session = leading(), Watcher(is_replicas=True)
    partition.watchers[session] = None
    await_(room, partition, session)

    step.appended(partition, append(partition))

    assert session.seen == [partition]
    assert step.take_touched() == [session, partition]


def test_a_high_watermark_that_moves_is_no_news_to_followers(step, room):
    partition, follower, consumer = leading(), Watcher(is_replicas=True), Watcher()
    partition.watchers |= {follower: None, consumer: None}
    await_(room, partition, follower, consumer)

    step.committed(partition)

    assert follower.seen == consumer.seen == [partition]
    assert step.take_touched() == [consumer, partition]


def test_a_durable_log_is_wanted_on_the_disk_at_once_and_forgets_the_trouble_before(step):
    partition = leading(flush_messages=1)
    partition.flush_trouble = "the disk was full"

    step.appended(partition, append(partition))

    assert partition.flush_trouble is None
    assert step.take_flushes() == ([partition], [])


def test_a_log_with_a_flush_time_is_wanted_on_the_disk_in_time(step):
    partition = leading(flush_ms=1_000)

    step.appended(partition, append(partition))

    assert step.has_facts
    assert step.take_flushes() == ([], [partition])


def test_a_followers_log_is_wanted_on_the_disk_as_a_leaders_is(step):
    durable, timed, neither = leading(flush_messages=1), leading(flush_ms=1_000), leading()
    for partition in (durable, timed, neither):
        append(partition)
        step.replicated(partition)

    assert step.take_flushes() == ([durable], [timed])


def test_metadata_that_grows_is_looked_at_though_nobody_waits(step):
    partition = leading(flush_messages=1)
    step.metadata_grown(partition)
    assert step.has_facts and step.take_flushes() == ([], [])

    append(partition)
    step.metadata_grown(partition)
    assert step.take_flushes() == ([partition], [])


def test_effects_go_out_once(step):
    step.emit(Close(1, "why"))

    assert step.has_facts
    assert step.take_effects() == [Close(1, "why")]
    assert step.take_effects() == []


def test_what_the_node_waits_for_itself_goes_on_when_it_is_there(step, room):
    heard = []
    step.later(Wait.over(lambda: "at once"), heard.append)
    step.later(Wait(("key",), lambda: True, NEVER, lambda: "later", lambda: None), heard.append)

    assert heard == ["at once", "later"]
