"""A transaction coordinator with its log in memory, asked one thing at a time."""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset, TopicPartition
from andiron.model.machine import LogLoaded, TimePassed
from andiron.transactions.records import TransactionRecord, decode_record, encode_record
from andiron.transactions.requests import (
    AddPartitions,
    EndTransaction,
    InitProducer,
    Markers,
    MarkersWritten,
)
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.shard import TransactionShard
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity, Transaction

A, B, C = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
TIMEOUT_MS = 60_000
TWO_PHASE = TransactionSettings(transaction_two_phase_commit_enable=True)


class Coordinator:
    """A shard, what is in its log, and the partitions that its markers go to."""

    def __init__(self, settings: TransactionSettings = TWO_PHASE) -> None:
        self.settings, self.now = settings, Millis(1_000_000)
        self.log: list[tuple[bytes, bytes | None]] = []
        self.gone: dict[str, None] = {}  # topics that were deleted
        self.fresh_ids = 0
        self.begun = 0
        self.written: list[Markers] = []
        self.begin()

    def begin(self) -> None:
        """Begin (again): a new machine makes its state from the log."""
        self.begun += 1
        self.shard = TransactionShard(self.settings, self.begun, lambda topic, _: topic not in self.gone)
        for offset, (key, value) in enumerate(self.log):
            self.shard.replay(decode_record(key, value), Offset(offset))
        assert self.shard.decide(LogLoaded(), self.now).records == []

    def ask(self, request: Any) -> Any:
        """Decide, append, replay; the answer."""
        if isinstance(request, InitProducer | EndTransaction) and self.shard.needs_fresh_id(request):
            self.fresh_ids += 1
            request = request._replace(fresh_id=100 + self.fresh_ids)
        decision = self.shard.decide(request, self.now)
        for record in decision.records:
            self.append(record)
        return decision.response

    def append(self, record: Any) -> None:
        self.log.append(encode_record(record))
        self.shard.replay(decode_record(*self.log[-1]), Offset(len(self.log) - 1))

    def transaction(self, transactional_id: str = "t") -> Transaction:
        return self.shard.transactions[transactional_id]

    @property
    def state(self) -> State:
        return self.transaction().state

    # ── what producers ask ──

    def init(self, holding: Identity | None = None, transactional_id: str = "t", **how: Any) -> Identity:
        """InitProducerId, for the identity that it gives."""
        answer = self.ask_init(holding, transactional_id, **how)
        if answer.error_code:
            raise ErrorCode.of(answer.error_code).error()
        return Identity(answer.producer_id, answer.producer_epoch)

    def ask_init(self, holding: Identity | None = None, transactional_id: str = "t", **how: Any) -> Any:
        held = {} if holding is None else {"producer_id": holding[0], "producer_epoch": holding[1]}
        timeout_ms = how.pop("timeout_ms", TIMEOUT_MS)
        return self.ask(InitProducer(transactional_id, timeout_ms, **held, **how))

    def add(self, producer: Identity, *partitions: TopicPartition, **how: Any) -> Any:
        transactional_id = how.pop("transactional_id", "t")
        return self.ask(AddPartitions(transactional_id, *producer, partitions, **how))

    def end(
        self, producer: Identity, *, committed: bool, version: int = 5, transactional_id: str = "t"
    ) -> Any:
        return self.ask(EndTransaction(transactional_id, *producer, committed, version))

    def commit(self, producer: Identity, version: int = 5) -> Identity:
        """Commit, with all markers; the identity to go on with (the same, under classic versions)."""
        answer = self.end(producer, committed=True, version=version)
        self.write_markers()
        return Identity(answer.producer_id, answer.producer_epoch) if version >= 5 else producer

    # ── what the broker does ──

    def write_markers(self) -> list[Markers]:
        """Write all that is owed, and say so."""
        markers = self.shard.take_markers(Offset(len(self.log)))
        for each in markers:
            self.report(each)
        return markers

    def report(self, markers: Markers) -> None:
        self.written.append(markers)
        self.ask(MarkersWritten(*markers[:3], markers.partitions))

    def pass_time(self, ms: int) -> None:
        """Let time go by, and ask about it until nothing is due."""
        self.now = Millis(self.now + ms)
        for _ in range(1000):
            if self.shard.next_deadline() > self.now:
                return
            self.ask(TimePassed())
        raise AssertionError("what is due stays due")

    def use_up_epochs(self, producer: Identity, transactional_id: str = "t") -> Identity:
        """As if it had ended so many transactions that one epoch is left."""
        value = self.transaction(transactional_id).record().value
        assert value is not None
        value.producer_epoch = LAST_EPOCH
        self.append(TransactionRecord(transactional_id, value))
        return Identity(producer.producer_id, LAST_EPOCH)


def refusal(ask: Any, *args: Any, **how: Any) -> ErrorCode:
    """The code with which something is refused."""
    try:
        answer = ask(*args, **how)
    except ProtocolError as error:
        return error.code
    raise AssertionError(f"it was not refused: {answer}")
