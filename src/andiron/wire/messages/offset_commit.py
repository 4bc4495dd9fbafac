"""OffsetCommit (key 8), versions 2-10: a group remembers how far it has read.

Version 5 drops the retention time, 6 adds the leader epoch, 7 static members, 9 serves groups of the
new protocol (the generation is then a member epoch), 10 names topics by id. Flexible since 8.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct, uuid


@struct
class OffsetCommitRequestPartition:
    partition_index: int = i32()
    committed_offset: int = i64()
    committed_leader_epoch: int = i32(since=6, default=-1)
    committed_metadata: str | None = string(nullable=True)


@struct
class OffsetCommitRequestTopic:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


@message(api_key=8, versions=(2, 10), flexible=8)
class OffsetCommitRequest:
    group_id: str = string()
    generation_id_or_member_epoch: int = i32(default=-1)
    member_id: str = string()
    group_instance_id: str | None = string(since=7, nullable=7, default=None)
    retention_time_ms: int = i64(until=4, default=-1)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


@struct
class OffsetCommitResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()


@struct
class OffsetCommitResponseTopic:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


@message(api_key=8, versions=(2, 10), flexible=8)
class OffsetCommitResponse:
    throttle_time_ms: int = i32(since=3)
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
