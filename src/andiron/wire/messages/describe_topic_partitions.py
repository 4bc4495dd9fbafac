"""DescribeTopicPartitions (key 75), version 0: topics a page at a time.

A response that had to stop says where in `next_cursor`; the next request begins there. Always flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, nested, string, struct, uuid


@struct
class TopicRequest:
    name: str = string()


@struct
class Cursor:
    topic_name: str = string()
    partition_index: int = i32()


@message(api_key=75, versions=(0, 0), flexible=0)
class DescribeTopicPartitionsRequest:
    topics: list[TopicRequest] = array(TopicRequest)
    response_partition_limit: int = i32(default=2000)
    cursor: Cursor | None = nested(Cursor, nullable=True, default=None)


@struct
class DescribeTopicPartitionsResponsePartition:
    error_code: int = i16()
    partition_index: int = i32()
    leader_id: int = i32()
    leader_epoch: int = i32(default=-1)
    replica_nodes: list[int] = array(i32())
    isr_nodes: list[int] = array(i32())
    eligible_leader_replicas: list[int] | None = array(i32(), nullable=True, default=None)
    last_known_elr: list[int] | None = array(i32(), nullable=True, default=None)
    offline_replicas: list[int] = array(i32())


@struct
class DescribeTopicPartitionsResponseTopic:
    error_code: int = i16()
    name: str | None = string(nullable=True)
    topic_id: bytes = uuid()
    is_internal: bool = boolean()
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition
    )
    topic_authorized_operations: int = i32(default=-(1 << 31))


@message(api_key=75, versions=(0, 0), flexible=0)
class DescribeTopicPartitionsResponse:
    throttle_time_ms: int = i32()
    topics: list[DescribeTopicPartitionsResponseTopic] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: Cursor | None = nested(Cursor, nullable=True, default=None)
