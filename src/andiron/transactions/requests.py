"""The requests that the transaction coordinator decides, where they are not the messages of the wire as they are.

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
    """InitProducerId with a transactional id. Answered with an InitProducerIdResponse."""

    transactional_id: str
    timeout_ms: int
    producer_id: int = NO_ID  # the producer id and epoch that it has, if any (KIP-360)
    producer_epoch: int = NO_EPOCH
    version: int = 6
    enable_2pc: bool = False
    keep_prepared: bool = False
    fresh_id: int = NO_ID


class AddPartitions(NamedTuple):
    """AddPartitionsToTxn: add partitions, or (`verify_only`) ask if they were. Answered with an ErrorCode each."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[TopicPartition, ...]
    verify_only: bool = False
    version: int = 5


class EndTransaction(NamedTuple):
    """EndTxn. Answered with an EndTxnResponse once the Prepare record is committed, before the markers are out."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    version: int = 5
    fresh_id: int = NO_ID


class Markers(NamedTuple):
    """Transaction markers to be written: commit or abort, for partitions that have none yet.

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
    """The markers in these partitions are written and committed. Answered with None."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[TopicPartition, ...]


class DescribeTransaction(NamedTuple):
    """DescribeTransactions, of one transactional id. Answered with its TransactionState."""

    transactional_id: str
