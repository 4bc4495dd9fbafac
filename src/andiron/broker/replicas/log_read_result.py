"""What reading one partition gave a fetch: records or an error, and the offsets that are told with them.

A follower's fetch is judged before its position is noted, and read after the positions of all its partitions are: the
second goes by the result of the first, unless the partition has another leader epoch by then (`is_judged`).

Read next: partition_readers.py, which judges; handlers/fetch.py.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from andiron.broker.replicas.fetch_sessions import CachedPartition
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.preferred_read_replica import HERE
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, NodeId, Offset
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)

_NOT_URGENT = (ErrorCode.NONE, ErrorCode.OFFSET_NOT_AVAILABLE)  # the latter may pass while it is waited for


@dataclass(slots=True)
class LogReadResult:
    """What one look at a partition gave, as Kafka's LogReadResult has it."""

    asked: CachedPartition
    error: ErrorCode = ErrorCode.NONE
    watermark: int = -1
    last_stable: int = -1
    start: int = -1
    records: Sized = b""
    aborted: list[AbortedTransaction] | None = None
    diverging: EpochEndOffset | None = None
    snapshot: SnapshotId | None = None  # to be fetched instead
    leader: LeaderIdAndEpoch | None = None  # whom to ask, if not this node (KIP-951); of the metadata always
    moved: bool = False  # more is committed than whoever asks knows of
    nearer: NodeId = HERE  # the replica to read from instead
    is_all: bool = False  # nothing that it has was left out for want of room
    is_throttled: bool = False  # what is sent counts against the quota of followers (KIP-73)
    partition: Partition | None = None  # that was read; None with an error
    seen: tuple[LeaderEpoch, Offset, Offset] | None = (
        None  # where the partition stood: leader epoch, high watermark, log end
    )

    @property
    def is_judged(self) -> bool:
        """Whether what was judged of a follower's position still holds: this leader leads in the same epoch."""
        partition = self.partition
        if partition is None or self.seen is None:
            return False
        return partition.leads and partition.epoch == self.seen[0]

    @property
    def has_moved(self) -> bool:
        """Whether another look would find something else."""
        return self.partition is not None and self.seen != standing(self.partition)

    @property
    def is_urgent(self) -> bool:
        """Whether the client must hear of it at once, records or not."""
        return (
            self.error not in _NOT_URGENT
            or self.diverging is not None
            or self.snapshot is not None
            or self.moved
            or self.nearer != HERE
        )

    def told(self) -> PartitionData:
        """The same in the protocol's words."""
        return PartitionData(
            partition_index=self.asked.wanted.partition,
            error_code=self.error.number,
            high_watermark=self.watermark,
            last_stable_offset=self.last_stable,
            log_start_offset=self.start,
            aborted_transactions=self.aborted,
            records=self.records,
            diverging_epoch=self.diverging,
            snapshot_id=self.snapshot,
            current_leader=self.leader,
            preferred_read_replica=self.nearer,
        )


def standing(partition: Partition) -> tuple[LeaderEpoch, Offset, Offset]:
    """Where a partition stands: its leader epoch, high watermark and log end offset."""
    return partition.epoch, partition.watermark, partition.log.end
