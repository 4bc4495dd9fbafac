"""A transactional producer: reads a partition, writes to others, and moves its group's offset, all or nothing.

    InitProducerId ─▶ where was I? ─▶ write · write · commit offset ─▶ EndTxn ─▶ the next one
         ▲              (OffsetFetch)                                    │
         └───────────── fenced, refused, cut off, or dropped dead ◀──────┘

Several share a transactional id: whoever comes last fences the others, who go on trying for a while before they
begin again themselves. What it has read it makes up; that it has read it is what counts (journal.py).

classic     says before where it writes, and keeps its epoch. A request that is late can do harm in the next
            transaction (transactions/ending.py), so after any doubt it begins anew, with another epoch
bumping     transaction version 2: another epoch with each transaction, so it may ask again, and is haunted by
            late copies of everything it asks
two-phase   writes down elsewhere that it has prepared, before it commits; whoever comes after it finds that, and
            finishes what is prepared
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.sim.clients.client import Gone, Script, Topic
from andiron.sim.clients.patient import Asking, Dropped, Patient, Refused
from andiron.sim.clients.signposts import GROUP, TRANSACTION, Key
from andiron.sim.exchange import Exchange
from andiron.sim.journal import Effort, Journal
from andiron.sim.ledger import Ledger, Sent
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from andiron.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

FINISHES_PREPARED_SINCE = 6  # of InitProducerId
ENDS_BUMPING, ADDS_OFFSETS = 5, 5  # the versions of EndTxn and TxnOffsetCommit that bumping ones speak
_OUSTED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_ID_MAPPING)


class Impatient(Exception):
    """A write takes too long."""


@dataclass(frozen=True, slots=True)
class TransactorHabits:
    """What kind of producer it is."""

    transactional_id: str
    group: str
    place: TopicPartition
    topics: list[str]  # to write to
    transactions: int
    pace_ms: int
    timeout_ms: int  # of a transaction
    bumping: bool
    two_phase: bool = False
    aborts: float = 0.2
    fragility: float = 0.02
    haunted: float = 0.1


class Transactor(Patient):
    """One producer of transactions."""

    def __init__(
        self, world: World, network: Network, name: str, habits: TransactorHabits, ledger: Ledger,
        journal: Journal,
    ) -> None:  # fmt: skip
        super().__init__(world, network, name)
        self._key: Key = TRANSACTION, habits.transactional_id
        self._group: Key = GROUP, habits.group
        self.habits, self._ledger, self._journal = habits, ledger, journal
        self.fragility = habits.fragility
        self.committed = 0
        self._left = habits.transactions
        self._topics: dict[str, Topic] = {}
        self._identity: tuple[int, int] | None = None
        self._position: int | None = None
        self._sequences: dict[TopicPartition, int] = {}

    def live(self) -> Script:
        while self._has_more_to_do():
            try:
                yield from self.connected()
                if not self._topics or self.signposts.are_stale:
                    yield from self._find_topics()
                elif self._identity is None:
                    yield from self._take_over()
                elif self._position is None:
                    yield from self._find_place()
                else:
                    yield from self._transact(self._identity, self._position)
            except Gone:
                self._identity = None
            except Impatient:
                yield from self._give_up()
            except Refused as refused:
                yield from self._was_refused(refused.code)
            except Dropped:
                self._identity = None
                yield from self.drop_dead(2 * self.habits.timeout_ms)
            yield self.chance.randint(1, self.habits.pace_ms)

    def _has_more_to_do(self) -> bool:
        leaves_nothing = not self.habits.two_phase or self._identity is not None
        return not leaves_nothing or (self._left > 0 and not self.is_closing)

    def _find_topics(self) -> Script:
        wanted = [*self.habits.topics, self.habits.place.topic, *sorted(INTERNAL)]
        topics = yield from self.find_all(list(dict.fromkeys(wanted)))
        self._topics = {topic.name: topic for topic in topics}

    # ── being the one ────────────────────────────────────────────────────────────────

    def _take_over(self) -> Script:
        """Become the holder of the transactional id, whoever is it now."""
        habits = self.habits
        request = InitProducerIdRequest(
            habits.transactional_id, habits.timeout_ms, enable_2pc=habits.two_phase,
            keep_prepared_txn=habits.two_phase,
        )  # fmt: skip
        version = FINISHES_PREPARED_SINCE if habits.two_phase else self.chance.randint(3, 5)
        response = yield from self.insist(request, version, _code, of=self._key, again=True, tries=60)
        self._become(response.producer_id, response.producer_epoch)
        self._position = None
        ongoing = response.ongoing_txn_producer_id, response.ongoing_txn_producer_epoch
        if ongoing != (-1, -1):
            effort = self._journal.prepared(ongoing)
            yield from self._end(effort, committed=effort is not None)

    def _become(self, producer_id: int, epoch: int) -> None:
        self._identity = producer_id, epoch
        self._sequences = {}

    def _was_refused(self, code: ErrorCode) -> Script:
        """One that is ousted does not believe it at once."""
        self.world.note(self.name, "is refused", code.name)
        identity = self._identity
        if identity is not None and code in _OUSTED and self.habits.bumping and self.chance.random() < 0.5:
            ending = self._ending(identity, committed=True)
            if self._is_ousted(identity):
                self.haunt(ending, ENDS_BUMPING, self.signposts.coordinator_of(self._key))
        self._identity = None
        yield self.chance.choice([10, 500, 3_000])

    def _is_ousted(self, identity: tuple[int, int]) -> bool:
        """Whether another has the id in earnest: a coordinator that is cut off may say so of the rightful one."""
        latest, holder = -1, identity
        for host in self.world.hosts.values():
            for shard in () if host.node is None else host.node.broker.transactions.shards:
                known = shard.machine.transactions.get(self.habits.transactional_id)
                if known is not None and shard.partition.epoch > latest:
                    latest, holder = shard.partition.epoch, known.holder
        return holder != identity

    def _give_up(self) -> Script:
        """Abort, though what was sent may still be under way; the next transaction has another epoch."""
        assert self._identity is not None
        request, self._identity = self._ending(self._identity, committed=False), None
        with suppress(Gone, Refused):
            yield from self.insist(request, self.chance.randint(2, 4), _code, of=self._key, again=False)

    def _find_place(self) -> Script:
        """Begin where the group's last transaction that counts has come to."""
        topic, index = self.habits.place
        wanted = OffsetFetchRequestTopics(topic, partition_indexes=[index])
        group = OffsetFetchRequestGroup(self.habits.group, topics=[wanted])
        request = OffsetFetchRequest(groups=[group], require_stable=True)
        version = self.chance.choice([8, 9])
        response = yield from self.insist(request, version, _fetched_code, of=self._group, again=True)
        self._position = max(0, response.groups[0].topics[0].partitions[0].committed_offset)

    # ── a transaction ────────────────────────────────────────────────────────────────

    def _transact(self, identity: tuple[int, int], position: int) -> Script:
        self._left -= 1
        habits = self.habits
        effort = self._journal.begin(
            habits.group, habits.place, position, position + self.chance.randint(1, 5)
        )
        names = [name for topic in habits.topics for name in self._topics[topic].names()]
        chosen = self.chance.sample(names, min(len(names), self.chance.choice([1, 2, 3])))
        offsets_first = self.chance.random() < 0.3
        if offsets_first:
            yield from self._commit_offset(identity, effort)
        yield from self._write(identity, effort, chosen)
        if not offsets_first:
            yield from self._commit_offset(identity, effort)
        if habits.two_phase:
            self._journal.prepare(identity, effort)
            self.may_drop_dead()
        yield self.chance.choice([0, 0, 10, 300])
        yield from self._end(effort, committed=habits.two_phase or self.chance.random() >= habits.aborts)

    def _write(self, identity: tuple[int, int], effort: Effort, chosen: list[TopicPartition]) -> Script:
        if not self.habits.bumping:
            adding = self._adding(identity, chosen)
            yield from self.insist(adding, 3, _added_code, of=self._key, again=False)
        batches = [self._make(identity, effort, name) for name in chosen]
        effort.batches += batches
        while batches:
            size = self.chance.randint(1, len(batches))
            yield from self._produce(batches[:size])
            batches = batches[size:]

    def _produce(self, batches: list[Sent]) -> Script:
        """Send batches until each is acknowledged."""
        version = self.chance.randint(12, 13) if self.habits.bumping else self.chance.randint(9, 11)
        while batches:
            if self.signposts.are_stale:
                yield from self._look_again()
            leader = self.signposts.leader_of(batches[0].partition)
            together = [sent for sent in batches if self.signposts.leader_of(sent.partition) is leader]
            request = self._production(together)
            if self.chance.random() < self.habits.haunted:
                self.haunt(request, version, leader, {"sent": together})
                if not self.habits.bumping and self.chance.random() < 0.5:
                    raise Impatient
            self.may_drop_dead()
            codes = yield from self._ask_to_write(request, version, together)
            for sent in together:
                code = codes.get(sent.partition, ErrorCode.UNKNOWN_TOPIC_ID)
                self.signposts.misled(code)
                if code is not ErrorCode.NONE and not _passes(code):
                    raise Refused(code)
            left = [sent for sent in batches if codes.get(sent.partition) is not ErrorCode.NONE]
            if len(left) > len(batches) - len(together):
                yield self.chance.choice([20, 200])
            batches = left

    def _look_again(self) -> Script:
        """Ask who leads what; whoever does not know may be asked again."""
        with suppress(Gone):
            yield from self.connected()
            yield from self.find_topics(list(self._topics))
        if self.signposts.are_stale:
            yield self.chance.choice([20, 200])

    def _ask_to_write(
        self, request: ProduceRequest, version: int, batches: list[Sent]
    ) -> Generator[int | Exchange, Any, dict[tuple[str, int], ErrorCode]]:
        names = {topic.id: topic.name for topic in self._topics.values()}
        try:
            leader = yield from self.at_leader(batches[0].partition)
            exchange = self.ask(request, version, via=leader)
            exchange.notes["sent"] = batches
            response = yield exchange
        except Gone:
            if not self.habits.bumping:
                raise
            return dict.fromkeys((sent.partition for sent in batches), ErrorCode.REQUEST_TIMED_OUT)
        return {
            (topic.name or names[topic.topic_id], answer.index): ErrorCode.of(answer.error_code)
            for topic in response.responses
            for answer in topic.partition_responses
        }

    def _commit_offset(self, identity: tuple[int, int], effort: Effort) -> Asking:
        bumping = self.habits.bumping
        self.may_drop_dead()
        if not bumping:
            adding = AddOffsetsToTxnRequest(self.habits.transactional_id, *identity, effort.group)
            yield from self.insist(adding, self.chance.randint(2, 4), _code, of=self._key, again=False)
        version = ADDS_OFFSETS if bumping else self.chance.randint(2, 4)
        topic, index = effort.place
        place = TxnOffsetCommitRequestPartition(index, effort.stop, committed_metadata="")
        request = TxnOffsetCommitRequest(
            self.habits.transactional_id, effort.group, *identity,
            topics=[TxnOffsetCommitRequestTopic(topic, [place])],
        )  # fmt: skip
        if bumping and self.chance.random() < self.habits.haunted:
            self.haunt(request, version, self.signposts.coordinator_of(self._group))
        yield from self.insist(request, version, _offset_code, of=self._group, again=bumping)

    def _end(self, effort: Effort | None, *, committed: bool) -> Script:
        """Bring a transaction to its end; without `effort`, one that nobody here knows."""
        assert self._identity is not None
        self.may_drop_dead()
        if effort is not None:
            effort.wish = committed
        bumping = self.habits.bumping
        version = ENDS_BUMPING if bumping else self.chance.randint(2, 4)
        request = self._ending(self._identity, committed=committed)
        if bumping and self.chance.random() < self.habits.haunted:
            self.haunt(request, version, self.signposts.coordinator_of(self._key))
        response = yield from self.insist(request, version, _code, of=self._key, again=bumping, tries=60)
        if effort is not None:
            effort.told = committed
            self.committed += committed
            if self._position is not None and committed:
                self._position = effort.stop
        if bumping:
            self._become(response.producer_id, response.producer_epoch)

    # ── requests ─────────────────────────────────────────────────────────────────────

    def _make(self, identity: tuple[int, int], effort: Effort, name: TopicPartition) -> Sent:
        contents: list[tuple[int, bytes | None, bytes | None]] = [
            (self.world.now, b"k%d" % self.chance.randrange(10), b"%d" % effort.number)
            for _ in range(self.chance.randint(1, 3))
        ]
        sequence = self._sequences.get(name, 0)
        self._sequences[name] = sequence + len(contents)
        return self._ledger.write(name, contents, codec=0, producer=(*identity, sequence), transactional=True)

    def _production(self, batches: list[Sent]) -> ProduceRequest:
        topics: dict[str, TopicProduceData] = {}
        for sent in batches:
            topic = self._topics[sent.partition.topic]
            data = topics.setdefault(topic.name, TopicProduceData(topic.name, topic.id))
            data.partition_data.append(PartitionProduceData(sent.partition.partition, sent.data))
        return ProduceRequest(self.habits.transactional_id, -1, 2_000, list(topics.values()))

    def _adding(self, identity: tuple[int, int], names: list[TopicPartition]) -> AddPartitionsToTxnRequest:
        producer_id, epoch = identity
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.habits.transactional_id,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name.topic, [name.partition]) for name in names],
        )

    def _ending(self, identity: tuple[int, int], *, committed: bool) -> EndTxnRequest:
        return EndTxnRequest(self.habits.transactional_id, *identity, committed)


def _passes(code: ErrorCode) -> bool:
    """Whether a batch may be sent again after this."""
    return code in (
        ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )  # fmt: skip


def _code(response: Any) -> int:
    return int(response.error_code)


def _first_of(codes: list[int]) -> int:
    return next((code for code in codes if code), 0)


def _added_code(response: Any) -> int:
    topics = response.results_by_topic_v3_and_below
    return _first_of([one.partition_error_code for topic in topics for one in topic.results_by_partition])


def _offset_code(response: Any) -> int:
    return _first_of([one.error_code for topic in response.topics for one in topic.partitions])


def _fetched_code(response: Any) -> int:
    group = response.groups[0]
    return _first_of([group.error_code, *(one.error_code for t in group.topics for one in t.partitions)])
