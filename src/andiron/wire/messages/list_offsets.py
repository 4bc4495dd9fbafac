"""ListOffsets (key 2), versions 1-11: the offset at a time, or at one end of the log.

Times below zero are names: -1 the end, -2 the start, and, by version, -3 the largest timestamp (7),
-4 the start of what is local (8), -5 the end of what is tiered (9), -6 the earliest not yet
tiered (11). Version 2 adds the isolation level, 4 the leader epoch, 6 is flexible, 10 adds a timeout.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, i64, message, string, struct


@struct
class ListOffsetsPartition:
    partition_index: int = i32()
    current_leader_epoch: int = i32(since=4, default=-1)
    timestamp: int = i64()


@struct
class ListOffsetsTopic:
    name: str = string()
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition)


@message(api_key=2, versions=(1, 11), flexible=6)
class ListOffsetsRequest:
    replica_id: int = i32()
    isolation_level: int = i8(since=2)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic)
    timeout_ms: int = i32(since=10)


@struct
class ListOffsetsPartitionResponse:
    partition_index: int = i32()
    error_code: int = i16()
    timestamp: int = i64(default=-1)
    offset: int = i64(default=-1)
    leader_epoch: int = i32(since=4, default=-1)


@struct
class ListOffsetsTopicResponse:
    name: str = string()
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


@message(api_key=2, versions=(1, 11), flexible=6)
class ListOffsetsResponse:
    throttle_time_ms: int = i32(since=2)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)
