"""The ledger of a sink, as a cluster keeps it: the pointer, the decisions, the decider and its participants.

    commit_protocol.py ── ReadPointer ───────▶ OffsetFetch of the sink's group
                          AcquireDecider ────▶ InitProducerId of the decider, as a newcomer
                          WritePointer ──────▶ Produce, TxnOffsetCommit, EndTxn under the identity it got
                          ListOpen ──────────▶ ListTransactions of every broker
                          CommitParticipant ─▶ EndTxn of a participant, under the identity that the decision names

The decider is always taken as a newcomer. To name the identity one had (KIP-360) would not do: a coordinator takes
a second one who names the same for the first, who did not hear, and gives both the same new identity.

Errors that pass are borne by the client as long as `default.api.timeout.ms` allows.

Read next: ledger_request.py; client/blocking/transaction.py.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any, TypeVar

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.reader import PartitionReader
from andiron.client.blocking.transaction import Transaction, end_transaction
from andiron.client.blocking.transaction_admin import TransactionAdmin
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.outbox import ProducerIdentity
from andiron.client.settings import ProducerSettings
from andiron.model.errors import ErrorCode, Fenced, ProtocolError
from andiron.spark import steps
from andiron.spark.sink.decision import DECISIONS, Decision, Pointer, Sink
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    AcquireDecider,
    CommitParticipant,
    FindDecision,
    HasDecided,
    IsDeciderTaken,
    ListOpen,
    Pause,
    Procedure,
    ReachStep,
    ReadDecision,
    ReadPointer,
    WritePointer,
)

T = TypeVar("T")

DECIDER_TIMEOUT_MS = 60_000  # a decision takes milliseconds; whoever comes next does not wait for this
PAUSE_MS, PAUSE_MS_MAX = 50, 2_000
COMPRESSION = ProducerSettings(compression_type="gzip")  # participants have names that are nearly the same
COMMITTED = ("PrepareCommit", "CompleteCommit")


class Ledger:
    """One sink's decisions, or several sinks', in one cluster."""

    def __init__(self, client: Client, timeout_ms: int = DECIDER_TIMEOUT_MS) -> None:
        self._client = client
        self._timeout_ms = min(timeout_ms, DECIDER_TIMEOUT_MS)
        self._admin, self._groups = Admin(client), GroupAdmin(client)
        self._transactions = TransactionAdmin(client)
        self._decider: Transaction | None = None

    def perform(self, procedure: Procedure[T]) -> T:
        """Answer the requests of a procedure until it returns; its result."""
        try:
            request = next(procedure)
            while True:
                try:
                    answer = self.answer(request)
                except ProtocolError as error:
                    request = procedure.throw(error)
                else:
                    request = procedure.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def answer(self, request: Any) -> Any:
        """Answer one request of the protocol."""
        match request:
            case ReadPointer(sink):
                return self._read_pointer(sink)
            case ReadDecision(sink, offset):
                return self._read_decision(sink, offset)
            case FindDecision(sink):
                return self._find_decision(sink)
            case HasDecided(sink):
                return self._decider_state(sink) in COMMITTED
            case IsDeciderTaken(sink):
                return self._decider_state(sink) is not None
            case AcquireDecider(sink):
                return self._acquire_decider(sink)
            case ListOpen(sink):
                return self._list_open(sink)
            case WritePointer():
                return self._write_pointer(request)
            case CommitParticipant(name, identity):
                return self._commit_participant(name, identity)
            case AbortTransaction(name):
                return Transaction(self._client, name, timeout_ms=self._timeout_ms).initiate()
            case Pause(times):
                pause_ms = min(PAUSE_MS << times, PAUSE_MS_MAX)
                return time.sleep(pause_ms * (50 + self._client.chance.below(100)) / 100_000)
            case ReachStep(step, batch):
                return steps.reached(step, batch)
        raise AssertionError(f"nobody asks for {request}")

    # ── the pointer and the decisions ────────────────────────────────────────────────

    def _read_pointer(self, sink: Sink) -> Pointer | None:
        committed = self._groups.committed(sink.decider).get(DECISIONS)
        return None if committed is None else Pointer.of_metadata(committed.offset, committed.metadata)

    def _read_decision(self, sink: Sink, offset: int) -> Decision | None:
        """The decision at an offset, uncommitted or not: that the pointer names it says that it was committed."""
        if not self._has_offset(offset):
            return None
        return next((decision for _, decision in self._read(sink, offset, offset + 1)), None)

    def _find_decision(self, sink: Sink) -> tuple[int, Decision] | None:
        """The newest decision, found by reading the whole topic, which is compacted; done only without a pointer."""
        start, end = self._ends()
        found = list(self._read(sink, start, end, committed=True)) if start < end else []
        return found[-1] if found else None

    def _read(
        self, sink: Sink, start: int, end: int, *, committed: bool = False
    ) -> list[tuple[int, Decision]]:
        reader = PartitionReader(self._client, DECISIONS, start, end, committed=committed)
        key = sink.key.encode()
        with contextlib.closing(reader):
            return [
                (record.offset, Decision.of_json(bytes(record.value)))
                for record in reader
                if record.key == key and record.value is not None
            ]

    def _has_offset(self, offset: int) -> bool:
        start, end = self._ends()
        return start <= offset < end

    def _ends(self) -> tuple[int, int]:
        try:
            ends = [self._admin.list_offsets({DECISIONS: at})[DECISIONS].offset for at in (EARLIEST, LATEST)]
        except ProtocolError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            return 0, 0
        return ends[0], ends[1]

    # ── the decider ──────────────────────────────────────────────────────────────────

    def _decider_state(self, sink: Sink) -> str | None:
        """The state of the decider's transactional id; None where nobody has ever taken it."""
        try:
            return self._transactions.describe(sink.decider).state
        except ProtocolError as error:
            if error.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                raise
            return None

    def _acquire_decider(self, sink: Sink) -> ProducerIdentity:
        self._decider = Transaction(self._client, sink.decider, timeout_ms=self._timeout_ms)
        return self._decider.initiate().identity

    def _write_pointer(self, request: WritePointer) -> Pointer:
        transaction = self._decider
        assert transaction is not None and transaction.identity == request.identity, "take the decider first"
        if request.decision is None:
            self._make_topic()
        transaction.begin()
        try:
            pointer = request.pointer
            if request.decision is not None:
                offset = self._produce(transaction, request.sink, request.decision)
                lost = bool(request.decision.lost)
                pointer = pointer.decided(request.decision.batch, offset, request.writer, mending=lost)
            transaction.send_offsets(
                request.sink.decider, {DECISIONS: (pointer.offset, pointer.to_metadata())}
            )
            for group, offsets in request.groups.items():
                transaction.send_offsets(group, {each: (offset, "") for each, offset in offsets.items()})
            transaction.commit()
        except ProtocolError:
            with contextlib.suppress(ProtocolError):
                transaction.abort()
            raise
        return pointer

    def _produce(self, transaction: Transaction, sink: Sink, decision: Decision) -> int:
        with Producer(self._client, COMPRESSION, transaction) as producer:
            producer.send(
                DECISIONS.topic, decision.to_json(), key=sink.key.encode(), partition=DECISIONS.partition
            )
            producer.flush()
            return producer.delivered[DECISIONS].first

    def _make_topic(self) -> None:
        with contextlib.suppress(ProtocolError):
            self._client.topic(DECISIONS.topic)
            return
        try:
            self._admin.create_topic(DECISIONS.topic, 1, configs={"cleanup.policy": "compact"})
        except ProtocolError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise

    # ── participants ─────────────────────────────────────────────────────────────────

    def _list_open(self, sink: Sink) -> dict[str, int]:
        return {
            each.transactional_id: each.producer_id
            for each in self._transactions.transactions(states=["Ongoing"])
            if each.transactional_id.startswith(sink.participants)
        }

    def _commit_participant(self, name: str, identity: ProducerIdentity) -> bool | None:
        try:
            end_transaction(self._client, name, identity, commit=True)
        except Fenced:
            return False
        except ProtocolError as error:
            if error.code is ErrorCode.INVALID_PRODUCER_ID_MAPPING:
                return None  # it ended so long ago that its coordinator has forgotten how
            if error.code is ErrorCode.INVALID_TXN_STATE:
                return False
            raise
        return True
