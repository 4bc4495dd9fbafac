"""Descriptions of transactions for admins (KIP-664), by their coordinators and by the leaders of partitions.

    coordinator   transactional id → producer, state, partitions      what it will complete
    partition     producer → where its open transaction starts        what waits to be completed

A transaction that is open in a partition, and of which no coordinator knows, hangs: no marker will ever come
for it, readers of committed records stop before it, and neither retention nor compaction passes it. It comes
from a bug or a lost coordinator. `hanging` finds those, the way Kafka's own tool does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from andiron.client.core.metadata import Broker
from andiron.model.ids import TopicPartition
from andiron.wire.messages import describe_transactions, list_transactions
from andiron.wire.messages.describe_producers import ProducerState

NO_TRANSACTION = -1
NO_EPOCH = -1
NEVER_STARTED = -1
AT_REST = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")  # the states in which nothing is open


class TransactionListing(NamedTuple):
    """A transactional id in ListTransactions."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str

    @property
    def is_open(self) -> bool:
        return self.state not in AT_REST

    @classmethod
    def of(cls, told: list_transactions.TransactionState, coordinator: int) -> TransactionListing:
        """As a coordinator told it."""
        return cls(told.transactional_id, coordinator, told.producer_id, told.transaction_state)


class TransactionDescription(NamedTuple):
    """What a coordinator knows of a transactional id: the transaction that is open, or the last one that was.

    `started_at` is -1 before the first one and after a new epoch; of one that has ended it goes on to be told.
    """

    transactional_id: str
    coordinator: Broker
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started_at: int
    partitions: list[TopicPartition]

    @property
    def is_open(self) -> bool:
        return self.state not in AT_REST

    @classmethod
    def of(cls, told: describe_transactions.TransactionState, coordinator: Broker) -> TransactionDescription:
        """As a coordinator told it."""
        return cls(
            told.transactional_id,
            coordinator,
            told.producer_id,
            told.producer_epoch,
            told.transaction_state,
            told.transaction_timeout_ms,
            told.transaction_start_time_ms,
            sorted(TopicPartition(each.topic, number) for each in told.topics for number in each.partitions),
        )


class ActiveProducer(NamedTuple):
    """A producer in DescribeProducers: one whose state a partition keeps."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    start_offset: int  # of its open transaction; -1 if there is none

    @property
    def has_open_transaction(self) -> bool:
        return self.start_offset != NO_TRANSACTION

    @classmethod
    def of(cls, told: ProducerState) -> ActiveProducer:
        """As the partition's leader told it."""
        return cls(
            told.producer_id,
            told.producer_epoch,
            told.last_sequence,
            told.last_timestamp,
            told.coordinator_epoch,
            told.current_txn_start_offset,
        )


class OpenTransaction(NamedTuple):
    """A transaction as one partition sees it."""

    partition: TopicPartition
    producer: ActiveProducer

    @property
    def marker_epoch(self) -> int:
        """The coordinator epoch under which to write its marker; 0 where no coordinator has written one."""
        return max(0, self.producer.coordinator_epoch)


def open_transactions(
    producers: Mapping[TopicPartition, Iterable[ActiveProducer]], not_since: int
) -> list[OpenTransaction]:
    """The open transactions of active producers that were last written to before a time, by partition."""
    return [
        OpenTransaction(partition, producer)
        for partition, active in sorted(producers.items())
        for producer in active
        if producer.has_open_transaction and producer.last_timestamp < not_since
    ]


def hanging(
    candidates: Iterable[OpenTransaction], known: Iterable[TransactionDescription]
) -> list[OpenTransaction]:
    """The candidates that hang: no coordinator knows their producer, or their partition in its transaction."""
    partitions = {each.producer_id: each.partitions for each in known}
    return [
        each for each in candidates if each.partition not in partitions.get(each.producer.producer_id, ())
    ]
