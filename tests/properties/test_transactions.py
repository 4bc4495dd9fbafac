"""A transaction is all or nothing, whatever comes late, twice, or not at all, and whoever crashes in between.

Producers, the coordinator and three partitions, with a network that may keep a request and deliver it again at any
time. A partition follows the rules of log/producers.py; what a producer does is what a correct one would do.
"""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Offset, TopicPartition
from andiron.transactions.records import TransactionRecord, decode_record
from andiron.transactions.requests import Markers, MarkersWritten
from andiron.transactions.shard import TransactionShard
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity
from properties.effort import tries
from worlds.outcomes import Ending, Label, Partition, Producer, Watched, Write
from worlds.transacting import A, B, C, Coordinator

T = TypeVar("T")
IDS = ("t", "nearly used up")
WAYS_TO_BEGIN = [
    {},
    {"enable_2pc": True},
    {"keep_prepared": True},
    {"enable_2pc": True, "keep_prepared": True},
]
SOME_PARTITIONS = st.sampled_from([(A,), (B,), (C, A), (A, B, C)])
FEW = st.sampled_from([0, 0, 1, 2])


def latest(items: list[T], back: int) -> T:
    """One of the last few: most of what is interesting happens between those."""
    return items[-1 - back % len(items)]


class Version2(RuleBasedStateMachine):
    """Everything may happen, at any time."""

    version, adds = 5, 5  # of EndTxn, and of AddPartitionsToTxn
    late = True  # whether what was delivered may be delivered again

    def __init__(self) -> None:
        super().__init__()
        self.coordinator = Watched()
        self.partitions = {each: Partition() for each in (A, B, C)}
        self.given: dict[Identity, Producer] = {}
        self.producers: list[Producer] = []  # and what was ever sent by them, or written
        self.endings: list[Ending] = []
        self.writes: list[Write] = []
        self.markers: list[Markers] = []

    @initialize()
    def one_id_has_a_long_history(self) -> None:
        self.coordinator.init(transactional_id=IDS[1])
        value = self.coordinator.transaction(IDS[1]).record().value
        assert value is not None
        value.producer_epoch = LAST_EPOCH - 2
        self.coordinator.append(TransactionRecord(IDS[1], value))
        self.coordinator.commit_all()

    # ── producers ──

    @rule(name=st.sampled_from(IDS), how=st.sampled_from(WAYS_TO_BEGIN), settle=st.booleans())
    def begin(self, name: str, how: dict[str, bool], settle: bool) -> None:
        producer = Producer(name)
        self.producers.append(producer)
        self.init(producer, **how)
        if settle and producer.identity is None:
            self.write_all_markers()
            self.init(producer, **how)

    @rule(back=FEW)
    def begin_again(self, back: int) -> None:
        self.init(self.someone(back))

    def someone(self, back: int) -> Producer:
        """One that believes to hold its id."""
        holding = [producer for producer in self.producers if producer.identity is not None]
        if not holding:
            self.begin(IDS[0], {}, settle=True)
            holding = self.producers[-1:]
        return latest(holding, back)

    def init(self, producer: Producer, **how: bool) -> None:
        holder = self.coordinator.holders.get(producer.transactional_id)
        decided = len(self.coordinator.decisions)
        try:
            answer = self.coordinator.ask_init(producer.identity, producer.transactional_id, **how)
            if producer.identity not in (None, holder):
                assert len(self.coordinator.decisions) == decided, "who holds nothing ends nothing"
        except ProtocolError as error:
            if error.code is ErrorCode.PRODUCER_FENCED:
                producer.identity = None
            return
        self.coordinator.commit_all()
        if answer.error_code:
            return
        self.give(producer, Identity(answer.producer_id, answer.producer_epoch))
        producer.heir = answer.ongoing_txn_producer_id != -1
        if producer.heir:
            producer.doing = self.coordinator.ongoing[producer.transactional_id]
            assert producer.doing.writer == (
                answer.ongoing_txn_producer_id,
                answer.ongoing_txn_producer_epoch,
            )

    def give(self, producer: Producer, identity: Identity) -> None:
        assert self.given.setdefault(identity, producer) is producer, "an identity is one producer's"
        producer.identity, producer.ending = identity, None
        producer.doing, producer.heir, producer.failed = None, False, False

    @rule(
        back=FEW,
        partitions=SOME_PARTITIONS,
        at_once=st.booleans(),
    )
    def write(self, back: int, partitions: tuple[TopicPartition, ...], at_once: bool) -> None:
        producer = self.someone(back)
        if producer.identity is None or producer.ending:
            return
        label = Label(producer.identity, producer.serial)
        for partition in partitions:
            write = Write(label, partition)
            try:
                self.ask_for(write, producer.transactional_id)
            except ProtocolError as error:
                retriable = error.code is ErrorCode.CONCURRENT_TRANSACTIONS
                producer.failed |= not retriable and not producer.heir
                return
            assert not producer.heir, "who has taken a transaction over can only end it"
            producer.doing = label
            self.writes.append(write)
            if at_once or not self.late:
                producer.failed |= not self.append(write)

    def ask_for(self, write: Write, transactional_id: str) -> None:
        """As a broker does when the partition knows of no transaction of that producer."""
        label, partition = write
        if self.partitions[partition].open.get(label.writer.producer_id) != label:
            self.coordinator.beginning = label
            self.coordinator.add(
                label.writer, partition, transactional_id=transactional_id, version=self.adds
            )
            self.coordinator.commit_all()

    @precondition(lambda self: self.late and self.writes)
    @rule(back=FEW)
    def append_late(self, back: int) -> None:
        self.append(latest(self.writes, back))

    def append(self, write: Write) -> bool:
        return self.partitions[write.partition].write(write.label)

    @rule(back=FEW, committed=st.booleans(), arrives=st.booleans(), heard=st.booleans(), settle=st.booleans())
    def end(self, back: int, committed: bool, arrives: bool, heard: bool, settle: bool) -> None:
        producer = self.someone(back)
        if producer.identity is None:
            return
        ending = producer.ending
        if ending is None:
            committed = committed and producer.doing is not None and not producer.failed
            ending = producer.ending = Ending(producer, producer.identity, producer.doing, committed)
            self.endings.append(ending)
        if arrives:
            self.deliver(ending, heard)
        if settle:
            self.write_all_markers()

    @rule(partitions=SOME_PARTITIONS, arrives=st.booleans(), heard=st.booleans(), settle=st.booleans())
    def commit_something(
        self, partitions: tuple[TopicPartition, ...], arrives: bool, heard: bool, settle: bool
    ) -> None:
        self.write(0, partitions, at_once=True)
        self.end(0, True, arrives, heard, settle)

    @precondition(lambda self: self.endings)
    @rule(back=FEW, heard=st.booleans())
    def deliver_late(self, back: int, heard: bool) -> None:
        self.deliver(latest(self.endings, back), heard)

    def deliver(self, ending: Ending, heard: bool) -> None:
        producer = ending.producer
        awaited = producer.ending is ending
        if not awaited and not self.late:
            return
        name, records = producer.transactional_id, len(self.coordinator.log)
        ongoing, decided = self.coordinator.ongoing.get(name), len(self.coordinator.decisions)
        try:
            answer = self.coordinator.end(
                ending.identity, committed=ending.committed, version=self.version, transactional_id=name
            )
        except ProtocolError as error:
            if awaited and heard:
                self.hear(producer, error.code)
            return
        if len(self.coordinator.decisions) > decided:
            assert ongoing == ending.label, "it touches no transaction but its own"
            assert self.coordinator.decisions[ending.label] is ending.committed
        elif ending.committed and ending.label is not None:
            assert self.coordinator.decisions[ending.label], "committed is answered where it is so"
        if awaited and (heard or not self.late):
            self.coordinator.commit_all()
            going_on = Identity(answer.producer_id, answer.producer_epoch)
            self.give(producer, going_on if self.version >= 5 else ending.identity)
            producer.serial += 1
        assert len(self.coordinator.log) - records <= 1

    def hear(self, producer: Producer, code: ErrorCode) -> None:
        if code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING):
            producer.identity = producer.ending = None
        elif code is ErrorCode.INVALID_TXN_STATE:
            producer.ending, producer.failed = None, True

    # ── the broker ──

    @rule(committed=st.booleans(), most=st.integers(0, 3), crash=st.sampled_from([False, False, True]))
    def write_some_markers(self, committed: bool, most: int, crash: bool) -> None:
        """Each of those that can go out reaches up to so many partitions, and maybe nobody hears of it."""
        if committed:
            self.coordinator.commit_all()
        for markers in self.coordinator.shard.take_markers(Offset(self.coordinator.watermark)):
            self.markers.append(markers)
            self.write_markers(markers._replace(partitions=markers.partitions[:most]))
            if markers.partitions[most:]:
                self.coordinator.shard.put_back(markers._replace(partitions=markers.partitions[most:]))
        if crash:
            self.coordinator.crash(losing=9)

    def write_markers(self, markers: Markers) -> None:
        for partition in markers.partitions:
            assert self.partitions[partition].mark(markers), "no marker is refused"
        self.coordinator.ask(MarkersWritten(*markers[:3], markers.partitions))

    @precondition(lambda self: self.late and self.markers)
    @rule(back=FEW)
    def write_old_markers(self, back: int) -> None:
        markers = latest(self.markers, back)
        for partition in markers.partitions:
            self.partitions[partition].mark(markers)

    @rule(ms=st.sampled_from([1_000, 70_000, 30 * 24 * 3_600_000]), settle=st.booleans())
    def pass_time(self, ms: int, settle: bool) -> None:
        transactions = self.coordinator.shard.transactions
        prepared = [name for name in self.coordinator.ongoing if transactions[name].is_two_phase]
        self.coordinator.pass_time(ms)
        for name in prepared:
            assert name in self.coordinator.ongoing, "a prepared transaction waits as long as it takes"
        if settle:
            self.write_all_markers()

    @rule(losing=st.integers(0, 3))
    def crash(self, losing: int) -> None:
        before = self.coordinator.shard.transactions
        self.coordinator.crash(losing)
        assert losing or self.coordinator.shard.transactions == before, "the log says it all"
        self.the_latest_record_of_each_id_is_enough()

    # ── laws ──

    def the_latest_record_of_each_id_is_enough(self) -> None:
        latest = dict(self.coordinator.log)
        shard = TransactionShard(self.coordinator.settings, 0, lambda *_: True)
        for offset, (key, value) in enumerate(latest.items()):
            record = decode_record(key, value)
            assert record is not None
            shard.replay(record, Offset(offset))
        assert shard.transactions == self.coordinator.shard.transactions

    @invariant()
    def every_partition_has_the_outcome_that_was_decided(self) -> None:
        for partition in self.partitions.values():
            for label, outcome in partition.outcomes.items():
                assert self.coordinator.decisions[label] is outcome

    def teardown(self) -> None:
        """Whatever happened, whoever comes next finds everything in order."""
        for name in IDS:
            for _ in range(3):
                if name in self.coordinator.shard.transactions:
                    self.init(Producer(name))
                self.write_all_markers()
        states = [each.state for each in self.coordinator.shard.transactions.values()]
        assert all(state is State.EMPTY for state in states)
        assert [each.open for each in self.partitions.values()] == [{}, {}, {}], "a transaction hangs"
        self.every_partition_has_the_outcome_that_was_decided()
        self.the_latest_record_of_each_id_is_enough()

    def write_all_markers(self) -> None:
        self.coordinator.commit_all()
        for markers in self.coordinator.shard.take_markers(Offset(self.coordinator.watermark)):
            self.markers.append(markers)
            self.write_markers(markers)


class Classic(Version2):
    """The same, but a request that was answered does not come again: that would be too much for it (below)."""

    version, adds = 4, 3
    late = False


TestVersion2 = Version2.TestCase
TestClassic = Classic.TestCase
TestVersion2.settings = settings(max_examples=tries(250), stateful_step_count=40, deadline=None)
TestClassic.settings = settings(max_examples=tries(80), stateful_step_count=40, deadline=None)


# ── what Jepsen found ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("version", "adds"), [(4, 3), (5, 5)], ids=["classic", "version 2"])
def test_a_commit_that_comes_twice_halves_the_next_transaction_in_the_classic_protocol_only(version, adds):
    """A producer commits, writes half of its next transaction, and its commit arrives once more. It then writes the
    other half and finds that it must abort."""
    coordinator, a, b = Coordinator(), Partition(), Partition()
    first = coordinator.init()

    def write(writer: Identity, serial: int, name, partition: Partition) -> None:
        coordinator.add(writer, name, version=adds)
        assert partition.write(Label(writer, serial))

    def markers() -> None:
        for each in coordinator.write_markers():
            for name in each.partitions:
                (a if name == A else b).mark(each)

    write(first, 1, A, a)
    second = coordinator.commit(first, version)
    a.mark(coordinator.written[0])
    write(second, 2, A, a)
    try:
        coordinator.end(first, committed=True, version=version)  # once more
    except ProtocolError as error:
        assert (version, error.code) == (5, ErrorCode.PRODUCER_FENCED)
    markers()
    write(second, 2, B, b)
    coordinator.end(second, committed=False, version=version)
    markers()

    outcomes = (a.outcomes[Label(second, 2)], b.outcomes[Label(second, 2)])
    assert outcomes == ((True, False) if version == 4 else (False, False))
