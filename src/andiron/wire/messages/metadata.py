"""Metadata (key 3), versions 0-13: the brokers, and which of them leads which partition.

In the request null asks for all topics (an empty list in version 0) and an empty list for none.
Version 4 allows topics to be created by the way, 7 adds the leader epoch, 9 is flexible, 10 adds
topic ids, 12 allows to ask by id alone, 13 adds an error for the whole response. The cluster's
authorized operations were asked for here in versions 8 to 10; DescribeCluster has them now.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, string, struct, uuid

NOT_ASKED = -(1 << 31)  # authorized operations that nobody asked for


@struct
class MetadataRequestTopic:
    topic_id: bytes = uuid(since=10)
    name: str | None = string(nullable=10)


@message(api_key=3, versions=(0, 13), flexible=9)
class MetadataRequest:
    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable=1)
    allow_auto_topic_creation: bool = boolean(since=4, default=True)
    include_cluster_authorized_operations: bool = boolean(since=8, until=10)
    include_topic_authorized_operations: bool = boolean(since=8)


@struct
class MetadataBroker:
    node_id: int = i32()
    host: str = string()
    port: int = i32()
    rack: str | None = string(since=1, nullable=1, default=None)


@struct
class MetadataPartition:
    error_code: int = i16()
    partition_index: int = i32()
    leader_id: int = i32()
    leader_epoch: int = i32(since=7, default=-1)
    replica_nodes: list[int] = array(i32())
    isr_nodes: list[int] = array(i32())
    offline_replicas: list[int] = array(i32(), since=5)


@struct
class MetadataTopic:
    error_code: int = i16()
    name: str | None = string(nullable=12)
    topic_id: bytes = uuid(since=10)
    is_internal: bool = boolean(since=1)
    partitions: list[MetadataPartition] = array(MetadataPartition)
    topic_authorized_operations: int = i32(since=8, default=NOT_ASKED)


@message(api_key=3, versions=(0, 13), flexible=9)
class MetadataResponse:
    throttle_time_ms: int = i32(since=3)
    brokers: list[MetadataBroker] = array(MetadataBroker)
    cluster_id: str | None = string(since=2, nullable=2, default=None)
    controller_id: int = i32(since=1, default=-1)
    topics: list[MetadataTopic] = array(MetadataTopic)
    cluster_authorized_operations: int = i32(since=8, until=10, default=NOT_ASKED)
    error_code: int = i16(since=13)
