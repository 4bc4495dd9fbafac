"""TxnOffsetCommit (key 28), versions 0-5: offsets of a group that count once the transaction commits.

Version 2 adds the leader epoch, 3 the member and generation (so that a zombie is noticed). From 5 on
the group's partition joins the transaction by this request alone. Flexible since 3.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@struct
class TxnOffsetCommitRequestPartition:
    partition_index: int = i32()
    committed_offset: int = i64()
    committed_leader_epoch: int = i32(since=2, default=-1)
    committed_metadata: str | None = string(nullable=True)


@struct
class TxnOffsetCommitRequestTopic:
    name: str = string()
    partitions: list[TxnOffsetCommitRequestPartition] = array(TxnOffsetCommitRequestPartition)


@message(api_key=28, versions=(0, 5), flexible=3)
class TxnOffsetCommitRequest:
    transactional_id: str = string()
    group_id: str = string()
    producer_id: int = i64()
    producer_epoch: int = i16()
    generation_id: int = i32(since=3, default=-1)
    member_id: str = string(since=3)
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic)


@struct
class TxnOffsetCommitResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()


@struct
class TxnOffsetCommitResponseTopic:
    name: str = string()
    partitions: list[TxnOffsetCommitResponsePartition] = array(TxnOffsetCommitResponsePartition)


@message(api_key=28, versions=(0, 5), flexible=3)
class TxnOffsetCommitResponse:
    throttle_time_ms: int = i32()
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic)
