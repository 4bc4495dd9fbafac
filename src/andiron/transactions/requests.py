"""What the transaction coordinator is asked, beside what comes off the wire as it is.

Handlers build these from their API's messages. A `fresh_id` is a producer id that nobody ever had: a machine cannot
make one up, so whoever asks finds out first whether one will be needed (`TransactionShard.needs_fresh_id`).

Read next: shard.py, which sends each to the part that decides it.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.model.ids import TopicPartition

NO_ID = -1
NO_EPOCH = -1


class InitProducer(NamedTuple):
    """A producer begins, or begins again. Answered with an InitProducerIdResponse."""

    transactional_id: str
    timeout_ms: int
    producer_id: int = NO_ID  # what it holds already, if anything
    producer_epoch: int = NO_EPOCH
    version: int = 6
    enable_2pc: bool = False
    keep_prepared: bool = False
    fresh_id: int = NO_ID


class AddPartitions(NamedTuple):
    """A transaction is going to write there, or (`verify_only`) said so before? Answered with an ErrorCode each."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[TopicPartition, ...]
    verify_only: bool = False
    version: int = 5


class EndTransaction(NamedTuple):
    """Commit or abort. Answered with an EndTxnResponse when the outcome is fixed, before its markers are out."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    version: int = 5
    fresh_id: int = NO_ID


class Markers(NamedTuple):
    """Markers to be written: how a transaction ended, for partitions that do not know yet.

    Without partitions there is nothing to write, and MarkersWritten is due at once.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int
    partitions: tuple[TopicPartition, ...]
    version: int  # of the transaction: 2 if the epoch is one above that of its records


class MarkersWritten(NamedTuple):
    """These partitions have their marker, committed. Answered with None."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[TopicPartition, ...]


class DescribeTransaction(NamedTuple):
    """How does it stand? Answered with DescribeTransactions' TransactionState."""

    transactional_id: str
