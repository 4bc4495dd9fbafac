"""Vote (key 52), versions 0-2: a replica that would lead the metadata quorum asks a voter for its vote.

The voter grants it to one candidate an epoch, and only to one whose log is at least as long as its own;
the last epoch and offset show that. Version 1 names both ends by directory, and the voter by its id, so
that a vote meant for a disk that is gone is not given by its successor; an answer may say where the leader
is. Version 2 can ask whether a vote would be granted before the epoch is raised (KIP-996). Flexible from
the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, string, struct, u16, uuid


@struct
class VoteRequestPartition:
    partition_index: int = i32()
    replica_epoch: int = i32()
    replica_id: int = i32()
    replica_directory_id: bytes = uuid(since=1)
    voter_directory_id: bytes = uuid(since=1)
    last_offset_epoch: int = i32()
    last_offset: int = i64()
    pre_vote: bool = boolean(since=2)


@struct
class VoteRequestTopic:
    topic_name: str = string()
    partitions: list[VoteRequestPartition] = array(VoteRequestPartition)


@message(api_key=52, versions=(0, 2), flexible=0)
class VoteRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = i32(since=1, default=-1)
    topics: list[VoteRequestTopic] = array(VoteRequestTopic)


@struct
class VoteResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()
    leader_id: int = i32()
    leader_epoch: int = i32()
    vote_granted: bool = boolean()


@struct
class VoteResponseTopic:
    topic_name: str = string()
    partitions: list[VoteResponsePartition] = array(VoteResponsePartition)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = u16()


@message(api_key=52, versions=(0, 2), flexible=0)
class VoteResponse:
    error_code: int = i16()
    topics: list[VoteResponseTopic] = array(VoteResponseTopic)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=1, tag=0)
