"""A transactional id as its latest record has it: its producer's identity, and the state of its transaction.

An identity is a producer id with an epoch. Three may be in play, and the record has room for all:

    producer        whom the transaction's records and markers carry
    next            who goes on afterwards, where that is not the producer: its epochs are used up, or somebody has
                    taken a prepared transaction over to finish it (initiation.py)
    previous        the producer id that the holder had before it got the one it has, if it was given a new identity
                    and not driven out by a newcomer. It may not have heard: let it ask again

The holder, whom requests must name, is next where there is one, else the producer.

Epochs grow by one and end at 32766. The one above is never given to a producer: a transaction that is aborted over
its producer's head ends with it when there is no other left, and an InitProducerId then brings a new producer id.

The law: a transaction changes by becoming another value, which goes into the log first. Nothing here is changed in
place, and nothing is known of an id that is not in its latest record, since compaction leaves no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TIMESTAMP, Millis, TopicPartition
from andiron.transactions.records import PartitionsSchema, TransactionLogValue, TransactionRecord
from andiron.transactions.requests import NO_EPOCH, NO_ID
from andiron.transactions.states import State

LAST_EPOCH = (1 << 15) - 2  # that a producer may hold
UNLIMITED_MS = (1 << 31) - 1  # the timeout of a transaction in two-phase commit
CLASSIC, BUMPING = 0, 2  # versions of a transaction: under the second each ends in a new epoch


class Identity(NamedTuple):
    """A producer id with its epoch."""

    producer_id: int
    epoch: int

    @property
    def is_exhausted(self) -> bool:
        """Whether the epochs of this producer id are used up: the next one is not given to producers."""
        return self.epoch >= LAST_EPOCH

    def successor(self, fresh_id: int) -> Identity:
        """The identity after this one: the next epoch, or epoch 0 of a fresh producer id."""
        return first_of(fresh_id) if self.is_exhausted else self.above()

    def above(self) -> Identity:
        """The same producer id with the next epoch, be it 32767, which no producer gets."""
        return Identity(self.producer_id, min(self.epoch, LAST_EPOCH) + 1)


NOBODY = Identity(NO_ID, NO_EPOCH)


def first_of(fresh_id: int) -> Identity:
    """Epoch 0 of a fresh producer id; COORDINATOR_LOAD_IN_PROGRESS, so that it asks again, where there is none."""
    if fresh_id == NO_ID:
        raise ErrorCode.COORDINATOR_LOAD_IN_PROGRESS.error("a new producer id is needed")
    return Identity(fresh_id, 0)


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transactional id: its identities, state, partitions and timeout, as TransactionLogValue has them."""

    id: str
    producer: Identity
    state: State
    timeout_ms: int
    updated_at: Millis
    started_at: Millis = NO_TIMESTAMP
    partitions: Mapping[TopicPartition, None] = field(default_factory=dict)  # in the order of addition
    next: Identity = NOBODY
    previous_id: int = NO_ID
    version: int = CLASSIC  # transaction.version of the client that last wrote in it, or ends it

    # ── identity ──

    @property
    def holder(self) -> Identity:
        """The identity that requests must name: `next` where there is one, else `producer`."""
        return self.producer if self.next == NOBODY else self.next

    @property
    def is_handed_over(self) -> bool:
        """Ongoing, kept by KIP-939's keep_prepared for a holder that did not begin it and may only end it."""
        return self.state is State.ONGOING and self.next != NOBODY

    @property
    def is_two_phase(self) -> bool:
        """In two-phase commit (KIP-939): it never times out."""
        return self.timeout_ms == UNLIMITED_MS

    def was_held_by(self, identity: Identity) -> bool:
        """Whether this is the holder's identity before its last one, whose answer it may not have got."""
        if self.previous_id == NO_ID or identity.producer_id != self.previous_id:
            return False
        if self.state is State.ONGOING:
            told = self.is_handed_over
        else:
            told = self.state is State.EMPTY or self.version == BUMPING
        if self.previous_id == self.holder.producer_id:
            return told and identity.epoch == self.holder.epoch - 1
        return told and identity.is_exhausted

    # ── transitions ──

    def renewed(self, holder: Identity, previous_id: int, timeout_ms: int, now: Millis) -> Transaction:
        """Empty, after InitProducerId: held by a new identity."""
        return self._become(
            State.EMPTY,
            producer=holder,
            previous_id=previous_id,
            timeout_ms=timeout_ms,
            updated_at=now,
            started_at=NO_TIMESTAMP,
        )

    def handed_over(self, holder: Identity, previous_id: int, timeout_ms: int, now: Millis) -> Transaction:
        """Ongoing as before, with another holder that is to end it (keep_prepared)."""
        return self._become(
            State.ONGOING, next=holder, previous_id=previous_id, timeout_ms=timeout_ms, updated_at=now
        )

    def writing_to(self, partitions: Iterable[TopicPartition], version: int, now: Millis) -> Transaction:
        """Ongoing, with these partitions added."""
        return self._become(
            State.ONGOING,
            partitions={**self.partitions, **dict.fromkeys(partitions)},
            previous_id=self.producer.producer_id,
            started_at=self.started_at if self.state is State.ONGOING else now,
            updated_at=now,
            version=version,
        )

    def decided(self, *, committed: bool, now: Millis) -> Transaction:
        """PrepareCommit or PrepareAbort of transaction.version 0 and 1: the producer keeps its epoch."""
        state = State.PREPARE_COMMIT if committed else State.PREPARE_ABORT
        return self._become(state, updated_at=now, version=CLASSIC)

    def decided_for(
        self, successor: Identity, *, committed: bool, previous_id: int, now: Millis
    ) -> Transaction:
        """PrepareCommit or PrepareAbort of version 2 (KIP-890): another epoch afterwards. The markers have one of their
        own, so that nothing which comes late can be written behind them."""
        markers = self.producer.above()
        return self._become(
            State.PREPARE_COMMIT if committed else State.PREPARE_ABORT,
            producer=markers,
            next=NOBODY if successor == markers else successor,
            previous_id=previous_id,
            started_at=self.started_at if self.state is State.ONGOING else now,
            updated_at=now,
            version=BUMPING,
        )

    def completed(self, now: Millis) -> Transaction:
        """CompleteCommit or CompleteAbort: every partition has its marker."""
        committed = self.state is State.PREPARE_COMMIT
        return self._become(
            State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT,
            producer=self.holder,
            next=NOBODY,
            partitions={},
            updated_at=now,
        )

    def _become(self, state: State, **changes: Any) -> Transaction:
        assert self.state.may_become(state), f"{self.state.title} does not become {state.title}"
        return replace(self, state=state, **changes)

    # ── as a record ──

    def record(self) -> TransactionRecord:
        """The record of this transaction."""
        return TransactionRecord(
            self.id,
            TransactionLogValue(
                producer_id=self.producer.producer_id,
                producer_epoch=self.producer.epoch,
                transaction_timeout_ms=self.timeout_ms,
                transaction_status=int(self.state),
                transaction_partitions=None if self.state is State.EMPTY else self._by_topic(),
                transaction_last_update_timestamp_ms=self.updated_at,
                transaction_start_timestamp_ms=self.started_at,
                previous_producer_id=self.previous_id,
                next_producer_id=self.next.producer_id,
                client_transaction_version=self.version,
                next_producer_epoch=self.next.epoch,
            ),
        )

    def _by_topic(self) -> list[PartitionsSchema]:
        topics: dict[str, PartitionsSchema] = {}
        for topic, partition in self.partitions:
            if topic not in topics:
                topics[topic] = PartitionsSchema(topic)
            topics[topic].partition_ids.append(partition)
        return list(topics.values())


def tombstone(transactional_id: str) -> TransactionRecord:
    """The record by which an id is forgotten."""
    return TransactionRecord(transactional_id, None)


def transaction_of(transactional_id: str, value: TransactionLogValue) -> Transaction:
    """The transaction of a TransactionLogValue; raises CORRUPT_MESSAGE for a state that no record has."""
    number = value.transaction_status
    if not State.EMPTY <= number <= State.COMPLETE_ABORT:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"a record of {transactional_id!r} has state {number}")
    return Transaction(
        transactional_id,
        Identity(value.producer_id, value.producer_epoch),
        State(number),
        value.transaction_timeout_ms,
        Millis(value.transaction_last_update_timestamp_ms),
        Millis(value.transaction_start_timestamp_ms),
        {
            TopicPartition(each.topic, partition): None
            for each in value.transaction_partitions or ()
            for partition in each.partition_ids
        },
        _next_of(value),
        value.previous_producer_id,
        value.client_transaction_version,
    )


def _next_of(value: TransactionLogValue) -> Identity:
    if value.next_producer_id == NO_ID:
        return NOBODY
    return Identity(value.next_producer_id, max(value.next_producer_epoch, 0))  # Kafka does not write the 0
