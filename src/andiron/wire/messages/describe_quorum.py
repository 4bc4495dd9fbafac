"""DescribeQuorum (key 55), versions 0-2: who leads the metadata quorum, and how far each member is.

Version 1 tells when a replica last fetched and last was caught up, 2 adds directory ids, error messages
and the voters' endpoints. Kafka calls the parts of both messages TopicData and PartitionData; they
differ, so here each says whose it is. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct, u16, uuid


@struct
class DescribeQuorumRequestPartition:
    partition_index: int = i32()


@struct
class DescribeQuorumRequestTopic:
    topic_name: str = string()
    partitions: list[DescribeQuorumRequestPartition] = array(DescribeQuorumRequestPartition)


@message(api_key=55, versions=(0, 2), flexible=0)
class DescribeQuorumRequest:
    topics: list[DescribeQuorumRequestTopic] = array(DescribeQuorumRequestTopic)


@struct
class ReplicaState:
    replica_id: int = i32()
    replica_directory_id: bytes = uuid(since=2)
    log_end_offset: int = i64()
    last_fetch_timestamp: int = i64(since=1, default=-1)
    last_caught_up_timestamp: int = i64(since=1, default=-1)


@struct
class DescribeQuorumResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()
    error_message: str | None = string(since=2, nullable=2, default=None)
    leader_id: int = i32()
    leader_epoch: int = i32()
    high_watermark: int = i64()
    current_voters: list[ReplicaState] = array(ReplicaState)
    observers: list[ReplicaState] = array(ReplicaState)


@struct
class DescribeQuorumResponseTopic:
    topic_name: str = string()
    partitions: list[DescribeQuorumResponsePartition] = array(DescribeQuorumResponsePartition)


@struct
class Listener:
    name: str = string()
    host: str = string()
    port: int = u16()


@struct
class Node:
    node_id: int = i32()
    listeners: list[Listener] = array(Listener)


@message(api_key=55, versions=(0, 2), flexible=0)
class DescribeQuorumResponse:
    error_code: int = i16()
    error_message: str | None = string(since=2, nullable=2, default=None)
    topics: list[DescribeQuorumResponseTopic] = array(DescribeQuorumResponseTopic)
    nodes: list[Node] = array(Node, since=2)
