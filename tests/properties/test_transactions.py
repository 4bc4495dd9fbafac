"""A transaction is all or nothing, whatever comes late, twice, or not at all, and whoever crashes in between.

Producers, the coordinator and three partitions, with a network that may keep a request and deliver it again at any
time. A partition follows the rules of log/producers.py; what a producer does is what a correct one would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Offset, TopicPartition
from andiron.transactions.records import TransactionRecord, decode_record
from andiron.transactions.requests import Markers, MarkersWritten
from andiron.transactions.shard import TransactionShard
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity, Transaction
from worlds.transacting import A, B, C, Coordinator

IDS = ("t", "nearly used up")


class Label(NamedTuple):
    """A transaction as its producer knows it."""

    writer: Identity
    serial: int


class Partition:
    """What a partition knows of producers, and how the transactions in it ended."""

    def __init__(self) -> None:
        self.epochs: dict[int, int] = {}
        self.coordinator_epochs: dict[int, int] = {}
        self.open: dict[int, Label] = {}
        self.outcomes: dict[Label, bool] = {}

    def write(self, label: Label) -> bool:
        producer_id, epoch = label.writer
        if epoch < self.epochs.get(producer_id, -1):
            return False
        self.epochs[producer_id] = epoch
        assert self.open.setdefault(producer_id, label) == label, "one transaction runs into the next"
        return True

    def mark(self, markers: Markers) -> bool:
        producer_id, epoch = markers.producer_id, markers.producer_epoch
        lowest = self.epochs.get(producer_id, -1)
        if markers.version >= 2 and producer_id in self.open:
            lowest += 1  # the marker of a transaction has an epoch above it
        if epoch < lowest or markers.coordinator_epoch < self.coordinator_epochs.get(producer_id, -1):
            return False
        self.epochs[producer_id] = epoch
        self.coordinator_epochs[producer_id] = markers.coordinator_epoch
        label = self.open.pop(producer_id, None)
        if label is not None:
            assert label not in self.outcomes, "a transaction ends once"
            self.outcomes[label] = markers.committed
        return True


@dataclass(eq=False)
class Producer:
    """One incarnation, with what it believes."""

    transactional_id: str
    identity: Identity | None = None
    serial: int = 0  # of its transactions
    doing: Label | None = None  # its transaction, or the one it has taken over
    heir: bool = False
    failed: bool = False  # a write of its transaction was refused: it can only abort
    ending: Ending | None = None  # not answered yet


@dataclass(eq=False)
class Ending:
    """A request to end a transaction, which may be delivered any number of times."""

    producer: Producer
    identity: Identity
    label: Label | None
    committed: bool


class Write(NamedTuple):
    """A batch that its partition may take, since the coordinator has been asked. It may take its time."""

    label: Label
    partition: TopicPartition


class Watched(Coordinator):
    """A coordinator whose log is checked as it grows."""

    def __init__(self) -> None:
        self.holders: dict[str, Identity] = {}
        self.held_ids: dict[int, None] = {}  # producer ids, each ever held
        self.ongoing: dict[str, Label] = {}
        self.decisions: dict[Label, bool] = {}
        self.beginning: Label | None = None  # whose write is being handled
        self.watermark = 0  # up to where the log cannot be lost
        self._tracks = [self._track()]  # what was known at each length of the log
        super().__init__()

    def append(self, record: TransactionRecord) -> None:
        name = record.transactional_id
        before = self.shard.transactions.get(name)
        super().append(record)
        self._follow(name, before, self.shard.transactions.get(name))
        self._tracks.append(self._track())

    def commit_all(self) -> None:
        """Nothing is answered before it is committed."""
        self.watermark = len(self.log)

    def crash(self, losing: int) -> None:
        """Begin anew, maybe without the last records: no more of them than nobody has heard of."""
        del self.log[max(self.watermark, len(self.log) - losing) :]
        del self._tracks[len(self.log) + 1 :]
        self.holders, self.held_ids, self.ongoing, self.decisions = map(dict, self._tracks[-1])
        self.begin()

    def _track(self) -> tuple[dict[Any, Any], ...]:
        return tuple(map(dict, (self.holders, self.held_ids, self.ongoing, self.decisions)))

    def _follow(self, name: str, before: Transaction | None, after: Transaction | None) -> None:
        if after is None:
            assert before is not None and before.state.is_at_rest, "what is under way is not forgotten"
            del self.holders[name]
            return
        self._check_holder(name, after.holder)
        if before is not None:
            assert before.state.may_become(after.state)
        if after.state is State.ONGOING and (before is None or before.state is not State.ONGOING):
            assert self.beginning is not None
            self.ongoing[name] = self.beginning
        if after.state.is_prepared and before is not None and before.state is State.ONGOING:
            label = self.ongoing.pop(name)
            assert label not in self.decisions, "an outcome is fixed once"
            self.decisions[label] = after.state is State.PREPARE_COMMIT

    def _check_holder(self, name: str, holder: Identity) -> None:
        last = self.holders.get(name)
        if last is not None and last.producer_id == holder.producer_id:
            assert holder.epoch >= last.epoch, "epochs never go back"
        else:
            assert holder.producer_id not in self.held_ids, "a producer id is never taken up again"
        self.holders[name] = holder
        self.held_ids[holder.producer_id] = None


class Version2(RuleBasedStateMachine):
    """Everything may happen, at any time."""

    version, adds = 5, 5  # of EndTxn, and of AddPartitionsToTxn
    late = True  # whether what was delivered may be delivered again

    producers = Bundle("producers")
    endings = Bundle("endings")
    writes = Bundle("writes")
    old_markers = Bundle("old_markers")

    def __init__(self) -> None:
        super().__init__()
        self.coordinator = Watched()
        self.partitions = {each: Partition() for each in (A, B, C)}
        self.given: dict[Identity, Producer] = {}

    @initialize()
    def one_id_has_a_long_history(self) -> None:
        self.coordinator.init(transactional_id=IDS[1])
        value = self.coordinator.transaction(IDS[1]).record().value
        assert value is not None
        value.producer_epoch = LAST_EPOCH - 2
        self.coordinator.append(TransactionRecord(IDS[1], value))
        self.coordinator.commit_all()

    # ── producers ──

    @rule(target=producers, name=st.sampled_from(IDS), two_phase=st.booleans())
    def begin(self, name: str, two_phase: bool) -> Producer:
        producer = Producer(name)
        self.init(producer, enable_2pc=two_phase)
        return producer

    @rule(target=producers, name=st.sampled_from(IDS), two_phase=st.booleans())
    def take_over(self, name: str, two_phase: bool) -> Producer:
        producer = Producer(name)
        self.init(producer, enable_2pc=two_phase, keep_prepared=True)
        return producer

    @rule(producer=producers, names_itself=st.booleans())
    def begin_again(self, producer: Producer, names_itself: bool) -> None:
        if producer.identity is None or names_itself:
            self.init(producer)

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
        target=writes,
        producer=producers,
        partitions=st.sampled_from([(A,), (B,), (C, A), (A, B, C)]),
        at_once=st.booleans(),
    )
    def write(self, producer: Producer, partitions: tuple[TopicPartition, ...], at_once: bool):
        if producer.identity is None or producer.ending:
            return multiple()
        label = Label(producer.identity, producer.serial)
        writes = [Write(label, partition) for partition in partitions]
        for write in writes:
            try:
                self.ask_for(write, producer.transactional_id)
            except ProtocolError as error:
                retriable = error.code is ErrorCode.CONCURRENT_TRANSACTIONS
                producer.failed |= not retriable and not producer.heir
                return multiple()
            assert not producer.heir, "who has taken a transaction over can only end it"
            producer.doing = label
            if at_once or not self.late:
                producer.failed |= not self.append(write)
        return multiple(*writes)

    def ask_for(self, write: Write, transactional_id: str) -> None:
        """As a broker does when the partition knows of no transaction of that producer."""
        label, partition = write
        if self.partitions[partition].open.get(label.writer.producer_id) != label:
            self.coordinator.beginning = label
            self.coordinator.add(
                label.writer, partition, transactional_id=transactional_id, version=self.adds
            )
            self.coordinator.commit_all()

    @precondition(lambda self: self.late)
    @rule(write=writes)
    def append_late(self, write: Write) -> None:
        self.append(write)

    def append(self, write: Write) -> bool:
        return self.partitions[write.partition].write(write.label)

    @rule(
        target=endings,
        producer=producers,
        committed=st.booleans(),
        arrives=st.booleans(),
        heard=st.booleans(),
    )
    def end(self, producer: Producer, committed: bool, arrives: bool, heard: bool):
        if producer.identity is None:
            return multiple()
        ending = producer.ending
        if ending is None:
            committed = committed and producer.doing is not None and not producer.failed
            ending = producer.ending = Ending(producer, producer.identity, producer.doing, committed)
        if arrives:
            self.deliver(ending, heard)
        return ending

    @rule(ending=endings, heard=st.booleans())
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

    @rule(target=old_markers, committed=st.booleans(), most=st.integers(0, 3))
    def write_some_markers(self, committed: bool, most: int):
        """Each of those that can go out reaches up to so many partitions."""
        if committed:
            self.coordinator.commit_all()
        taken = self.coordinator.shard.take_markers(Offset(self.coordinator.watermark))
        for markers in taken:
            self.write_markers(markers._replace(partitions=markers.partitions[:most]))
            if markers.partitions[most:]:
                self.coordinator.shard.put_back(markers._replace(partitions=markers.partitions[most:]))
        return multiple(*taken)

    def write_markers(self, markers: Markers) -> None:
        for partition in markers.partitions:
            assert self.partitions[partition].mark(markers), "no marker is refused"
        self.coordinator.ask(MarkersWritten(*markers[:3], markers.partitions))

    @precondition(lambda self: self.late)
    @rule(markers=old_markers)
    def deliver_old_marker(self, markers: Markers) -> None:
        for partition in markers.partitions:
            self.partitions[partition].mark(markers)

    @rule(ms=st.sampled_from([1_000, 70_000, 30 * 24 * 3_600_000]))
    def pass_time(self, ms: int) -> None:
        transactions = self.coordinator.shard.transactions
        prepared = [name for name in self.coordinator.ongoing if transactions[name].is_two_phase]
        self.coordinator.pass_time(ms)
        for name in prepared:
            assert name in self.coordinator.ongoing, "a prepared transaction waits as long as it takes"

    @rule(losing=st.integers(0, 3))
    def crash(self, losing: int) -> None:
        self.coordinator.crash(losing)

    @rule()
    def replay(self) -> None:
        before = self.coordinator.shard.transactions
        self.coordinator.begin()
        assert self.coordinator.shard.transactions == before, "the log says it all"

    # ── laws ──

    @invariant()
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

    def write_all_markers(self) -> None:
        for markers in self.coordinator.shard.take_markers(Offset(len(self.coordinator.log))):
            self.write_markers(markers)


class Classic(Version2):
    """The same, but a request that was answered does not come again: that would be too much for it (below)."""

    version, adds = 4, 3
    late = False


TestVersion2 = Version2.TestCase
TestClassic = Classic.TestCase
TestVersion2.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestClassic.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)


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
