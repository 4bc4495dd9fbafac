"""What a fetch finds when it looks at one of its partitions."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass

from andiron.broker.replicas.fetch_sessions import CachedPartition
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.preferred_read_replica import HERE
from andiron.broker.telemetry.traffic import TopicTraffic
from andiron.model.errors import ErrorCode
from andiron.model.ids import NodeId
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
    """What one look at a partition gave."""

    asked: CachedPartition
    error: ErrorCode = ErrorCode.NONE
    watermark: int = -1
    last_stable: int = -1
    start: int = -1
    records: Sized = b""
    aborted: list[AbortedTransaction] | None = None
    diverging: EpochEndOffset | None = None
    snapshot: SnapshotId | None = None  # to be fetched instead
    leader: LeaderIdAndEpoch | None = (
        None  # with an error: who is to be asked instead; of the metadata always
    )
    moved: bool = False  # more is committed than whoever asks knows of
    nearer: NodeId = HERE  # the replica to read from instead
    is_all: bool = False  # nothing that it has was left out for want of room
    traffic: TopicTraffic | None = None  # where what is sent is counted; None with an error
    seen: tuple[Partition, int, int, int] | None = None  # and where it stood: epoch, watermark, end

    @property
    def has_moved(self) -> bool:
        """Whether another look would find something else."""
        return self.seen is not None and self.seen != standing(self.seen[0])

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


def standing(partition: Partition) -> tuple[Partition, int, int, int]:
    """A partition, and where it stands: its epoch, watermark and end."""
    return partition, partition.epoch, partition.watermark, partition.log.end
