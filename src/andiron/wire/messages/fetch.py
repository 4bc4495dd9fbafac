"""Fetch (key 1), versions 4-18: read record batches, as a consumer or as a follower.

Version 7 brings sessions (only what changed is sent), 9 the leader epoch, 11 the rack, 12 is
flexible and lets a follower learn where its log diverges, 13 names topics by id, 15 moves the
replica's id into a tag, 16 tells the current leader with an error (KIP-951), 17 adds the
follower's directory, 18 the high watermark that it knows.
"""

from __future__ import annotations

from collections.abc import Sized

from andiron.wire.schema import array, i8, i16, i32, i64, message, nested, records, string, struct, uuid


@struct
class ReplicaState:
    replica_id: int = i32(default=-1)
    replica_epoch: int = i64(default=-1)


@struct
class FetchPartition:
    partition: int = i32()
    current_leader_epoch: int = i32(since=9, default=-1)
    fetch_offset: int = i64()
    last_fetched_epoch: int = i32(since=12, default=-1)
    log_start_offset: int = i64(since=5, default=-1)
    partition_max_bytes: int = i32()
    replica_directory_id: bytes = uuid(since=17, tag=0)
    high_watermark: int = i64(since=18, tag=1, default=(1 << 63) - 1)


@struct
class FetchTopic:
    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[FetchPartition] = array(FetchPartition)


@struct
class ForgottenTopic:
    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[int] = array(i32())


@message(api_key=1, versions=(4, 18), flexible=12)
class FetchRequest:
    cluster_id: str | None = string(since=12, nullable=True, tag=0, default=None)
    replica_id: int = i32(until=14, default=-1)
    replica_state: ReplicaState | None = nested(ReplicaState, since=15, tag=1, default=None)
    max_wait_ms: int = i32()
    min_bytes: int = i32()
    max_bytes: int = i32(default=(1 << 31) - 1)
    isolation_level: int = i8()
    session_id: int = i32(since=7)
    session_epoch: int = i32(since=7, default=-1)
    topics: list[FetchTopic] = array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, since=7)
    rack_id: str = string(since=11)


@struct
class EpochEndOffset:
    epoch: int = i32(default=-1)
    end_offset: int = i64(default=-1)


@struct
class LeaderIdAndEpoch:
    leader_id: int = i32(default=-1)
    leader_epoch: int = i32(default=-1)


@struct
class SnapshotId:
    end_offset: int = i64(default=-1)
    epoch: int = i32(default=-1)


@struct
class AbortedTransaction:
    producer_id: int = i64()
    first_offset: int = i64()


@struct
class PartitionData:
    partition_index: int = i32()
    error_code: int = i16()
    high_watermark: int = i64()
    last_stable_offset: int = i64(default=-1)
    log_start_offset: int = i64(since=5, default=-1)
    diverging_epoch: EpochEndOffset | None = nested(EpochEndOffset, since=12, tag=0, default=None)
    current_leader: LeaderIdAndEpoch | None = nested(LeaderIdAndEpoch, since=12, tag=1, default=None)
    snapshot_id: SnapshotId | None = nested(SnapshotId, since=12, tag=2, default=None)
    aborted_transactions: list[AbortedTransaction] | None = array(
        AbortedTransaction, nullable=True, default=None
    )
    preferred_read_replica: int = i32(since=11, default=-1)
    records: Sized | None = records(nullable=True)


@struct
class FetchableTopicResponse:
    topic: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partitions: list[PartitionData] = array(PartitionData)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = i32()
    rack: str | None = string(nullable=True, default=None)


@message(api_key=1, versions=(4, 18), flexible=12)
class FetchResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16(since=7)
    session_id: int = i32(since=7)
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=16, tag=0)
