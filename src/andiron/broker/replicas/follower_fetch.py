"""A partition in a follower's Fetch and in its leader's answer, between the words of the wire and of the replica.

    Position ─▶ FetchPartition ─▶ leader ─▶ PartitionData ─▶ FetchPartitionData

Read next: replica_fetcher.py for partitions, metadata_fetcher.py for the metadata log; replication/follower.py.
"""

from __future__ import annotations

from typing import cast

from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Offset
from andiron.replication.follower import FetchPartitionData, Position
from andiron.wire.messages.fetch import FetchPartition, PartitionData


def fetch_partition(index: int, epoch: LeaderEpoch, position: Position, bytes_max: int) -> FetchPartition:
    """What a fetch in this leader epoch says of a partition."""
    return FetchPartition(
        index,
        current_leader_epoch=epoch,
        fetch_offset=position.offset,
        last_fetched_epoch=position.last_epoch,
        log_start_offset=position.log_start,
        partition_max_bytes=bytes_max,
    )


def fetch_partition_data(said: PartitionData) -> FetchPartitionData:
    """A leader's answer, as a follower takes it."""
    parted = said.diverging_epoch
    return FetchPartitionData(
        ErrorCode.of(said.error_code),
        cast(memoryview, said.records) if said.records else b"",
        Offset(said.high_watermark),
        Offset(said.log_start_offset),
        None if parted is None else (LeaderEpoch(parted.epoch), Offset(parted.end_offset)),
    )
