"""The way of a transaction's first write into a partition: its coordinator is asked, and then it is written.

    first batch of a transaction here ──▶ AddPartitions ──▶ the coordinator of its transactional id
                                          verify: is this partition part of it?    (clients that say so before)
                                          add:    from now on it is                (transaction version 2)

Read next: verification.py, on what the question is good for; transactions/partitions.py, who answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.coordinators.coordinator_calls import ask_coordinator
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.verification_guards import VerificationGuard, VerificationGuards
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, TopicPartition
from andiron.records.batch import TRANSACTIONAL, Batch
from andiron.transactions.requests import AddPartitions
from andiron.wire.messages.produce import ProduceRequest

# Those that older clients give up on, though trying again would help, and the one they try again on.
PASSING = {
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.NETWORK_EXCEPTION,
}
TRY_AGAIN = ErrorCode.NOT_ENOUGH_REPLICAS
ADDS_SINCE = 12  # the version of Produce that adds a partition to the transaction by writing to it
ABORTABLE_SINCE = 11  # the version of Produce whose clients know that aborting helps

ABORTABLE, UNABORTABLE = 5, 4  # versions of AddPartitionsToTxn: that tells a producer to abort, that does not
ATTRIBUTES_AT = 22  # in a batch, the byte of its attributes that matters here


class Writer(NamedTuple):
    """Who writes in a transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


Outcome = dict[TopicPartition, ErrorCode]


def ask(
    broker: Broker, writer: Writer, partitions: tuple[TopicPartition, ...], *, adds: bool, abortable: bool,
    now: Millis,
) -> Wait:  # fmt: skip
    """Ask the coordinator of a transaction about partitions; the Wait gives its word on each, as an Outcome."""
    if not adds and not broker.live.current().transaction_partition_verification_enable:
        return Wait.over(lambda: dict.fromkeys(partitions, ErrorCode.NONE))
    version = ABORTABLE if abortable else UNABORTABLE
    question = AddPartitions(*writer, partitions, verify_only=not adds, version=version)
    return (
        ask_coordinator(broker, question, now)
        .or_else(lambda error: dict.fromkeys(partitions, error.code))
        .and_then(_as_partitions_say_it)
    )


def _as_partitions_say_it(outcome: Outcome) -> Outcome:
    """Whoever writes expects to hear of its epoch, as from a partition that has seen a newer one."""
    fenced, stale = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
    return {name: stale if code is fenced else code for name, code in outcome.items()}


# ── batches ──────────────────────────────────────────────────────────────────────────


def are_transactional(records: memoryview | bytes | None) -> bool:
    """Whether a batch says that it is part of a transaction. One byte tells, whatever else is wrong with it."""
    return (
        records is not None and len(records) > ATTRIBUTES_AT and records[ATTRIBUTES_AT] & TRANSACTIONAL != 0
    )


class Admission:
    """What the coordinator says to one first batch."""

    __slots__ = ("_code", "_guard", "_guards", "_producer_id", "_untold")

    def __init__(self, guards: VerificationGuards, batch: Batch, *, adds: bool, now: Millis) -> None:
        self._guards, self._producer_id = guards, batch.producer_id
        self._guard = guards.begin(batch.producer_id, batch.producer_epoch, batch.base_sequence, now)
        self._code = ErrorCode.NONE
        # Clients that do not add partitions by writing to them cannot be told to wait for their last transaction.
        self._untold = PASSING if not adds else PASSING - {ErrorCode.CONCURRENT_TRANSACTIONS}

    def answered(self, code: ErrorCode) -> None:
        """The coordinator's word. A question that it has answered with no will not be asked again."""
        self._code = code
        if code is not ErrorCode.NONE and code not in PASSING:
            self._guards.end(self._producer_id, self._guard)

    def guard(self) -> VerificationGuard:
        """What to append the batch with; the error for its client if the coordinator would not have it."""
        if self._code in self._untold:
            raise TRY_AGAIN.error(f"the coordinator of the transaction cannot tell yet: {self._code.name}")
        if self._code is not ErrorCode.NONE:
            raise self._code.error("the coordinator of the transaction knows nothing of it here")
        return self._guard


Admissions = dict[TopicPartition, Admission]


def begin_transaction(broker: Broker, request: Request[ProduceRequest], transactional_id: str) -> Wait:
    """See to it that the coordinator knows of every partition in which a batch begins its transaction.

    The Wait gives Admissions: for each such partition the coordinator's word.
    """
    adds, abortable = request.version >= ADDS_SINCE, request.version >= ABORTABLE_SINCE
    admissions: Admissions = {}
    asked: dict[Writer, list[TopicPartition]] = {}
    for partition, batch in _first_batches(broker, request.body):
        admissions[partition.name] = Admission(partition.guards, batch, adds=adds, now=request.now)
        writer = Writer(transactional_id, batch.producer_id, batch.producer_epoch)
        asked.setdefault(writer, []).append(partition.name)

    def note(outcomes: list[Outcome]) -> Admissions:
        for outcome in outcomes:
            for name, code in outcome.items():
                admissions[name].answered(code)
        return admissions

    wait = Wait.all(
        [
            ask(broker, writer, tuple(names), adds=adds, abortable=abortable, now=request.now)
            for writer, names in asked.items()
        ]
    )
    if not wait.until():
        keep_records(request.body)
    return wait.and_then(note)


def _first_batches(broker: Broker, body: ProduceRequest) -> Iterator[tuple[Partition, Batch]]:
    """The batches that begin a transaction in their partition. What is wrong with others shows when they are
    appended."""
    for topic in body.topic_data:
        for produced in topic.partition_data:
            try:
                partition = broker.partition(topic.name, topic.topic_id, produced.index)
                partition.leader()
                batch = Batch(produced.records or b"")
            except ProtocolError:
                continue
            id, epoch = batch.producer_id, batch.producer_epoch
            if batch.is_transactional and partition.opens_transaction(id, epoch):
                yield partition, batch


def keep_records(body: ProduceRequest) -> None:
    """What was received is good for this step only, and the answer will come later."""
    for topic in body.topic_data:
        for produced in topic.partition_data:
            if produced.records is not None:
                produced.records = memoryview(bytearray(produced.records))
