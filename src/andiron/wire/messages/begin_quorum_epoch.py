"""BeginQuorumEpoch (key 53), versions 0-1: a new leader of the metadata quorum makes itself known.

It goes to every voter until that voter fetches, so that nobody waits for an election that is over.
Version 1 is flexible, names the voter by id and directory, and says where the leader is reached; an answer
that knows of a later leader says where that one is.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct, u16, uuid


@struct
class BeginQuorumEpochRequestPartition:
    partition_index: int = i32()
    voter_directory_id: bytes = uuid(since=1)
    leader_id: int = i32()
    leader_epoch: int = i32()


@struct
class BeginQuorumEpochRequestTopic:
    topic_name: str = string()
    partitions: list[BeginQuorumEpochRequestPartition] = array(BeginQuorumEpochRequestPartition)


@struct
class LeaderEndpoint:
    name: str = string()
    host: str = string()
    port: int = u16()


@message(api_key=53, versions=(0, 1), flexible=1)
class BeginQuorumEpochRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = i32(since=1, default=-1)
    topics: list[BeginQuorumEpochRequestTopic] = array(BeginQuorumEpochRequestTopic)
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1)


@struct
class BeginQuorumEpochResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()
    leader_id: int = i32()
    leader_epoch: int = i32()


@struct
class BeginQuorumEpochResponseTopic:
    topic_name: str = string()
    partitions: list[BeginQuorumEpochResponsePartition] = array(BeginQuorumEpochResponsePartition)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = u16()


@message(api_key=53, versions=(0, 1), flexible=1)
class BeginQuorumEpochResponse:
    error_code: int = i16()
    topics: list[BeginQuorumEpochResponseTopic] = array(BeginQuorumEpochResponseTopic)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
