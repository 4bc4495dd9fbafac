"""A deciding machine on its own log: what is decided, written, replayed and then told."""

import pytest

from andiron.broker.coordinators.shard import Shard, batches_between, data_records
from andiron.broker.replicas.partition import Partition
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.model.machine import Decision, InTransaction, Promise
from andiron.records.control import ControlType, control_batch
from andiron.replication.leader import LeaderAndIsr
from andiron.sim.disk import MemoryDisk
from worlds.noting import NotedStep

NAME, ID, ALONE = TopicPartition("sums", 0), b"\x01" * 16, frozenset({1})


class Sum:
    """Adds up the numbers it is given; asked for "sum", it tells."""

    def __init__(self):
        self.total, self.replayed = 0, []

    def decide(self, request, now):
        if request == "sum":
            return Decision(self.total)
        return Decision(self.total + sum(request), [str(number) for number in request])

    def replay(self, record, offset):
        self.total += int(record)
        self.replayed.append((int(record), offset))


@pytest.fixture
def disk():
    return MemoryDisk()


def shard_on(disk, **settings):
    log = PartitionLog.open(
        LogFolder(disk, "/data/sums-0"), TopicIdPartition(ID, NAME), LogSettings(**settings), now=0
    )
    partition = Partition(NAME, ID, log)
    partition.lead(LeaderAndIsr(1, 0, ALONE, ALONE), watermark=0, now=0, lag_ms_max=1_000)
    return Shard(partition, Sum(), lambda number: (None, number.encode()), NotedStep())


def numbers_of(batch):
    return [(record.offset, record.value.decode()) for record in data_records(batch)]


def load(shard):
    position = shard.partition.log.start
    while position < shard.partition.log.end:
        position = shard.load(numbers_of, position, 1 << 20)


def flush(shard):
    _, end = shard.partition.log.unflushed_files()
    shard.partition.note_flushed(end)


def test_a_decision_is_written_replayed_and_answered(disk):
    shard = shard_on(disk)

    wait = shard.run([1, 2], now=5)

    assert wait.until() and wait.then() == 3
    assert shard.machine.replayed == [(1, 0), (2, 1)]
    (batch,) = batches_between(shard.partition, 0, 2)
    assert numbers_of(batch) == [(0, "1"), (1, "2")]


def test_the_answer_waits_until_the_decision_is_committed(disk):
    shard = shard_on(disk, flush_messages=1)
    wait = shard.run([1], now=5, timeout_ms=100)
    assert not wait.until()
    assert (wait.watch, wait.deadline) == ((shard.partition, shard), 105)

    flush(shard)

    assert wait.until()


def test_a_decision_that_writes_nothing_waits_for_what_it_has_seen(disk):
    shard = shard_on(disk, flush_messages=1)
    shard.run([1], now=5)
    wait = shard.run("sum", now=5)
    assert not wait.until()

    flush(shard)

    assert wait.until() and wait.then() == 1


def test_what_is_not_committed_in_time_is_a_timeout(disk):
    wait = shard_on(disk, flush_messages=1).run([1], now=5, timeout_ms=100)

    with pytest.raises(ProtocolError) as caught:
        wait.otherwise()

    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT


def test_a_disk_that_fails_is_told_to_who_waits(disk):
    shard = shard_on(disk, flush_messages=1)
    wait = shard.run([1], now=5)

    shard.partition.fail("EIO")

    assert wait.until()
    with pytest.raises(ProtocolError) as caught:
        wait.then()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_what_cannot_be_written_has_not_been_decided(disk):
    shard = shard_on(disk)
    disk.fill_up()

    with pytest.raises(ProtocolError):
        shard.run([1], now=5)

    assert shard.machine.total == 0
    disk.free_up()
    assert shard.run([2], now=6).then() == 2


def test_loading_brings_a_machine_to_the_end_of_its_log(disk):
    before = shard_on(disk)
    for numbers in ([1, 2], [3], [4, 5, 6]):
        before.run(numbers, now=5)

    after = shard_on(disk)
    load(after)

    assert after.machine.replayed == before.machine.replayed
    assert after.machine.total == 21


def test_control_records_are_not_replayed(disk):
    shard = shard_on(disk)
    shard.run([1], now=5)
    shard.partition.append_own(control_batch([(ControlType.LEADER_CHANGE, b"")], timestamp=5), 5)
    shard.run([2], now=5)

    again = shard_on(disk)
    load(again)

    assert again.machine.replayed == [(1, 0), (2, 2)]


def test_batches_are_read_from_the_middle_and_across_segments(disk):
    shard = shard_on(disk, internal_segment_bytes=200)
    for number in range(10):
        shard.run([number, 100 + number], now=5)
    assert len(shard.partition.log.segments) > 2

    found = [batch.base_offset for batch in batches_between(shard.partition, 3, 20)]

    assert found == list(range(2, 20, 2))
    assert [batch.base_offset for batch in batches_between(shard.partition, 3, 8)] == [2, 4, 6]


def test_a_log_is_loaded_a_piece_at_a_time(disk):
    before = shard_on(disk)
    for number in range(10):
        before.run([number], now=5)
    after = shard_on(disk)

    position = after.load(numbers_of, 0, 200)

    assert 0 < position < 10
    assert after.machine.replayed == before.machine.replayed[:position]


# ── promises ─────────────────────────────────────────────────────────────────────────


class Meeting(Sum):
    """Whoever comes waits for the next one, who is told nothing."""

    def __init__(self):
        super().__init__()
        self.waiting = None

    def decide(self, request, now):
        if self.waiting is None:
            self.waiting = Promise()
            return Decision(self.waiting, firm=False)
        self.waiting.keep(f"{request} came")
        return Decision(None, ["1"], kept=[self.waiting], firm=False)


def meeting_on(disk, **settings):
    step, shard = NotedStep(), shard_on(disk, **settings)
    return Shard(shard.partition, Meeting(), lambda n: (None, n.encode()), step), step.touched


def test_a_promise_is_kept_by_another_request(disk):
    shard, kept = meeting_on(disk)
    first = shard.run("ann", now=5)
    assert not first.until()

    shard.run("bob", now=6)

    assert first.until() and kept == [first.watch[0]]
    assert first.then().then() == "bob came"


def test_what_was_promised_is_told_when_it_is_committed(disk):
    shard, _ = meeting_on(disk, flush_messages=1)
    first = shard.run("ann", now=5)
    shard.run("bob", now=6)
    second = first.then()
    assert not second.until()

    flush(shard)

    assert second.until() and second.then() == "bob came"


def test_who_waits_for_a_shard_that_is_gone_is_sent_away(disk):
    shard, _ = meeting_on(disk)
    first = shard.run("ann", now=5)

    shard.gone = True

    assert first.until()
    with pytest.raises(ProtocolError) as caught:
        first.then().then()
    assert caught.value.code is ErrorCode.NOT_COORDINATOR


def test_a_shard_that_could_not_write_what_it_has_in_mind_is_gone(disk):
    shard, _ = meeting_on(disk)
    shard.run("ann", now=5)
    disk.fill_up()

    with pytest.raises(ProtocolError):
        shard.run("bob", now=6)

    assert shard.gone


def test_records_of_a_transaction_are_written_as_such(disk):
    shard = shard_on(disk)
    shard.machine.decide = lambda request, now: Decision(None, ["7"], transaction=InTransaction(9, 2))
    shard.run("x", now=5)

    (batch,) = batches_between(shard.partition, 0, 1)

    assert (batch.is_transactional, batch.producer_id, batch.producer_epoch) == (True, 9, 2)
