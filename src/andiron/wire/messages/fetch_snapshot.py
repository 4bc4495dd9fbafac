"""FetchSnapshot (key 59), versions 0-1: a piece of a snapshot, for a replica that the log no longer reaches.

A follower learns of the snapshot from Fetch and asks for it from byte `position` on until it has `size`
bytes. A piece ends wherever the bytes allowed end, in the middle of a batch if need be: only the whole can
be read. Version 1 adds the follower's directory, and an answer may say where the leader is. Flexible from
the start.
"""

from __future__ import annotations

from collections.abc import Sized

from andiron.wire.schema import array, i16, i32, i64, message, nested, records, string, struct, u16, uuid


@struct
class SnapshotId:
    end_offset: int = i64()
    epoch: int = i32()


@struct
class FetchSnapshotRequestPartition:
    partition: int = i32()
    current_leader_epoch: int = i32()
    snapshot_id: SnapshotId = nested(SnapshotId)
    position: int = i64()
    replica_directory_id: bytes = uuid(since=1, tag=0)


@struct
class FetchSnapshotRequestTopic:
    name: str = string()
    partitions: list[FetchSnapshotRequestPartition] = array(FetchSnapshotRequestPartition)


@message(api_key=59, versions=(0, 1), flexible=0)
class FetchSnapshotRequest:
    cluster_id: str | None = string(nullable=True, tag=0, default=None)
    replica_id: int = i32(default=-1)
    max_bytes: int = i32(default=(1 << 31) - 1)
    topics: list[FetchSnapshotRequestTopic] = array(FetchSnapshotRequestTopic)


@struct
class LeaderIdAndEpoch:
    leader_id: int = i32()
    leader_epoch: int = i32()


@struct
class FetchSnapshotResponsePartition:
    index: int = i32()
    error_code: int = i16()
    snapshot_id: SnapshotId = nested(SnapshotId)
    current_leader: LeaderIdAndEpoch | None = nested(LeaderIdAndEpoch, tag=0, default=None)
    size: int = i64()
    position: int = i64()
    unaligned_records: Sized = records(default=b"")


@struct
class FetchSnapshotResponseTopic:
    name: str = string()
    partitions: list[FetchSnapshotResponsePartition] = array(FetchSnapshotResponsePartition)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = u16()


@message(api_key=59, versions=(0, 1), flexible=0)
class FetchSnapshotResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    topics: list[FetchSnapshotResponseTopic] = array(FetchSnapshotResponseTopic)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
