"""EndQuorumEpoch (key 54), versions 0-1: the leader of the metadata quorum resigns, as when it shuts down.

It lists who should stand for election, best first: the first does so at once, the others a little later
each. Version 1 is flexible, names these candidates by directory as well, and says where the leader is
reached; an answer that knows of a later leader says where that one is.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct, u16, uuid


@struct
class ReplicaInfo:
    candidate_id: int = i32()
    candidate_directory_id: bytes = uuid()


@struct
class EndQuorumEpochRequestPartition:
    partition_index: int = i32()
    leader_id: int = i32()
    leader_epoch: int = i32()
    preferred_successors: list[int] = array(i32(), until=0)
    preferred_candidates: list[ReplicaInfo] = array(ReplicaInfo, since=1)


@struct
class EndQuorumEpochRequestTopic:
    topic_name: str = string()
    partitions: list[EndQuorumEpochRequestPartition] = array(EndQuorumEpochRequestPartition)


@struct
class LeaderEndpoint:
    name: str = string()
    host: str = string()
    port: int = u16()


@message(api_key=54, versions=(0, 1), flexible=1)
class EndQuorumEpochRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    topics: list[EndQuorumEpochRequestTopic] = array(EndQuorumEpochRequestTopic)
    leader_endpoints: list[LeaderEndpoint] = array(LeaderEndpoint, since=1)


@struct
class EndQuorumEpochResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()
    leader_id: int = i32()
    leader_epoch: int = i32()


@struct
class EndQuorumEpochResponseTopic:
    topic_name: str = string()
    partitions: list[EndQuorumEpochResponsePartition] = array(EndQuorumEpochResponsePartition)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = u16()


@message(api_key=54, versions=(0, 1), flexible=1)
class EndQuorumEpochResponse:
    error_code: int = i16()
    topics: list[EndQuorumEpochResponseTopic] = array(EndQuorumEpochResponseTopic)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
