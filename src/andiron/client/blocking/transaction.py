"""A transactional producer (KIP-98): records of several partitions, and offsets of groups (KIP-447), written as one.

    with Client("localhost:9092") as client:
        transaction = Transaction(client, "orders-enriched")
        with Producer(client, transaction=transaction) as producer:
            transaction.initiate()
            transaction.begin()
            producer.send("enriched", b"…")
            transaction.send_offsets("enricher", {TopicPartition("orders", 0): (17, "")})
            transaction.commit()

Producers that write in a transaction are attached to it: its commit flushes them first, its abort makes them give
up what is not sent. Several may be: one for records, one for columns.

In two-phase commit (KIP-939) somebody else decides. Flushed producers mean *prepared*; `identity` names what was
prepared, and whoever knows it ends it with `end_transaction`, from another process and after a crash too:

    initiate ─▶ begin ─▶ send … flush ─▶ tell the identity to whoever decides ─▶ end_transaction(identity, commit)

Said twice it is done once. An `initiate` in between aborts what was prepared, unless it is told to keep it.

Read next: ../core/transaction.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from andiron.client.blocking.client import Client
from andiron.client.blocking.coordinators import Coordinators, CoordinatorType
from andiron.client.core.answer_errors import error_in
from andiron.client.core.outbox import ProducerIdentity
from andiron.client.core.transaction import InitiatedIdentity, Offsets, Phase, TransactionState
from andiron.model.errors import ErrorCode, Fenced
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from andiron.wire.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from andiron.wire.messages.end_txn import EndTxnResponse
from andiron.wire.messages.init_producer_id import InitProducerIdResponse
from andiron.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

R = TypeVar("R")

# The last versions before KIP-890: a producer keeps its epoch, and adds the partitions that it writes to.
ADD_PARTITIONS, ADD_OFFSETS, TXN_OFFSET_COMMIT, END_TXN = 3, 4, 4, 4
ONE_PHASE, TWO_PHASE, CONDITIONAL = 5, 6, 3  # versions of InitProducerId


class Writer(Protocol):
    """A producer that writes in a transaction."""

    def flush(self) -> None:
        """Send everything; return when all of it is acknowledged."""

    def discard(self) -> None:
        """Drop records that are not sent."""

    def identify(self, identity: ProducerIdentity) -> None:
        """Use this producer id and epoch from now on."""


class Transaction:
    """The transactions of one transactional id, one after another."""

    def __init__(
        self, client: Client, transactional_id: str, *, timeout_ms: int = 60_000, two_phase: bool = False
    ) -> None:
        self.id, self.timeout_ms, self.two_phase = transactional_id, timeout_ms, two_phase
        self._client = client
        self._course = TransactionState(transactional_id)
        self._coordinators = Coordinators(client, CoordinatorType.TRANSACTION)
        self._groups = Coordinators(client, CoordinatorType.GROUP)
        self._writers: list[Writer] = []

    @property
    def identity(self) -> ProducerIdentity:
        """Producer id and epoch of the transaction; (-1, -1) before it is initiated."""
        return self._course.identity

    @property
    def phase(self) -> Phase:
        return self._course.phase

    # ── identity ─────────────────────────────────────────────────────────────────────

    def initiate(
        self, holder: ProducerIdentity | None = None, keep_prepared: bool = False
    ) -> InitiatedIdentity:
        """InitProducerId: take the transactional id; whoever had it is fenced, and what it left open is aborted.

        As the `holder` of an identity one is refused, by an error of the class Fenced, if another has come since.
        With `keep_prepared` what was left open stays, to be ended by us; `prepared` tells under whose identity.
        """
        beyond = TWO_PHASE if self.two_phase or keep_prepared else CONDITIONAL if holder else 0
        what = "two-phase commit" if beyond == TWO_PHASE else "a new epoch for the holder of one"
        at_most = TWO_PHASE if beyond == TWO_PHASE else ONE_PHASE
        self._client.retry(lambda: self._require(beyond, what))
        request = self._course.initiate(
            self.timeout_ms, holder, two_phase=self.two_phase, keep_prepared=keep_prepared
        )
        answer = self._call(request, InitProducerIdResponse, self._check_one, at_most)
        initiated = self._course.initiated(answer)
        self._identify_writers()
        return initiated

    def resume(self, identity: ProducerIdentity) -> None:
        """Go on under the producer id and epoch of another process; its transaction is taken to be open."""
        self._course.resume(identity)
        self._identify_writers()

    def attach(self, writer: Writer) -> None:
        """Have a producer write in this transaction, under its present identity and those that follow."""
        self._writers.append(writer)

    def detach(self, writer: Writer) -> None:
        """This producer no longer writes in the transaction."""
        if writer in self._writers:
            self._writers.remove(writer)

    # ── partitions and offsets ───────────────────────────────────────────────────────

    def begin(self) -> None:
        """Begin a transaction; after an earlier one, with the next epoch."""
        if self._course.phase is Phase.ENDED:
            self.initiate(self.identity)
        self._course.begin()

    def check_open(self) -> None:
        """Raise unless a transaction is open."""
        self._course.check_open()

    def fail(self, reason: BaseException) -> None:
        """A producer has dropped records: the transaction can only be aborted."""
        self._course.fail(reason)

    def add(self, partitions: Iterable[TopicPartition]) -> None:
        """AddPartitionsToTxn for partitions that were not added; producers call this before they write to them."""
        missing = self._course.missing(partitions)
        if missing:
            request = self._course.add(missing)
            self._ask(request, AddPartitionsToTxnResponse, self._check_added, ADD_PARTITIONS)
            self._course.added(missing)

    def send_offsets(self, group: str, offsets: Offsets) -> None:
        """AddOffsetsToTxn and TxnOffsetCommit: offsets of a group that count if the transaction is committed."""
        request = self._course.add_group(group)
        if request is not None:
            self._ask(request, AddOffsetsToTxnResponse, self._check_one, ADD_OFFSETS)
            self._course.added_group(group)
        self._send_offsets(self._course.offsets(group, offsets))

    # ── the end ──────────────────────────────────────────────────────────────────────

    def commit(self) -> None:
        """Flush the producers, then EndTxn with commit; called again after a retriable error, it commits once."""
        for writer in self._writers:
            writer.flush()
        self._end(commit=True)

    def abort(self) -> None:
        """Drop what is not sent, then EndTxn with abort."""
        for writer in self._writers:
            writer.discard()
        self._end(commit=False)

    def _end(self, *, commit: bool) -> None:
        request = self._course.end(commit=commit)
        if request is not None:
            self._call(request, EndTxnResponse, self._check_one, END_TXN)
        self._course.ended()

    # ── requests to the coordinator ──────────────────────────────────────────────────

    def _identify_writers(self) -> None:
        for writer in self._writers:
            writer.identify(self.identity)

    def _require(self, version: int, what: str) -> None:
        self._coordinators.connection(self.id).versions.require(ApiKey.INIT_PRODUCER_ID, version, what)

    def _ask(self, request: Any, response: type[R], check: Callable[[R], None], at_most: int) -> R:
        """Call the coordinator; if that fails, the transaction can only be aborted."""
        try:
            return self._call(request, response, check, at_most)
        except BaseException as error:
            self._course.fail(error)
            raise

    def _call(self, request: Any, response: type[R], check: Callable[[R], None], at_most: int) -> R:
        try:
            return self._coordinators.call(self.id, request, response, check, at_most)
        except Fenced as error:
            self._course.fail(error)
            raise

    def _send_offsets(self, request: TxnOffsetCommitRequest) -> None:
        def check(answer: TxnOffsetCommitResponse) -> None:
            for topic in answer.topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    error = error_in(each.error_code, None, f"group {request.group_id!r}, {partition}")
                    if error is not None:
                        raise error

        try:
            self._groups.call(request.group_id, request, TxnOffsetCommitResponse, check, TXN_OFFSET_COMMIT)
        except BaseException as error:
            self._course.fail(error)
            raise

    def _check_one(self, answer: InitProducerIdResponse | AddOffsetsToTxnResponse | EndTxnResponse) -> None:
        error = error_in(answer.error_code, None, self._course)
        if error is not None:
            raise error

    def _check_added(self, answer: AddPartitionsToTxnResponse) -> None:
        rows = [
            (each.partition_error_code, TopicPartition(topic.name, each.partition_index))
            for topic in answer.results_by_topic_v3_and_below
            for each in topic.results_by_partition
        ]
        # A partition that cannot be added keeps the others out (OPERATION_NOT_ATTEMPTED): raise its error.
        rows.sort(key=lambda row: row[0] == ErrorCode.OPERATION_NOT_ATTEMPTED.number)
        for code, partition in rows:
            error = error_in(code, None, f"{self._course}, {partition}")
            if error is not None:
                raise error


def end_transaction(client: Client, transactional_id: str, identity: ProducerIdentity, commit: bool) -> None:
    """EndTxn for a transaction that another process wrote under this producer id and epoch; idempotent."""
    transaction = Transaction(client, transactional_id)
    transaction.resume(identity)
    transaction.commit() if commit else transaction.abort()
