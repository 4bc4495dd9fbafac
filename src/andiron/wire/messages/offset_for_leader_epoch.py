"""OffsetForLeaderEpoch (key 23), versions 2-4: where a leader epoch ended in the leader's log.

A client that saw epoch E asks whether its position still lies in that epoch's history (KIP-320).
Version 3 adds the replica's id, 4 is flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@struct
class OffsetForLeaderPartition:
    partition: int = i32()
    current_leader_epoch: int = i32(default=-1)
    leader_epoch: int = i32()


@struct
class OffsetForLeaderTopic:
    topic: str = string()
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


@message(api_key=23, versions=(2, 4), flexible=4)
class OffsetForLeaderEpochRequest:
    replica_id: int = i32(since=3, default=-2)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


@struct
class EpochEndOffset:
    error_code: int = i16()
    partition: int = i32()
    leader_epoch: int = i32(default=-1)
    end_offset: int = i64(default=-1)


@struct
class OffsetForLeaderTopicResult:
    topic: str = string()
    partitions: list[EpochEndOffset] = array(EpochEndOffset)


@message(api_key=23, versions=(2, 4), flexible=4)
class OffsetForLeaderEpochResponse:
    throttle_time_ms: int = i32()
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)
