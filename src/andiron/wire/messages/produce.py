"""Produce (key 0), versions 3-13: append record batches to partitions.

Version 9 is flexible, 10 tells the current leader with an error (KIP-951), 12 lets a transaction
begin with its first batch (KIP-890), 13 names topics by id.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, nested, records, string, struct, uuid


@struct
class PartitionProduceData:
    index: int = i32()
    records: memoryview | bytes | None = records(nullable=True)


@struct
class TopicProduceData:
    name: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partition_data: list[PartitionProduceData] = array(PartitionProduceData)


@message(api_key=0, versions=(3, 13), flexible=9)
class ProduceRequest:
    transactional_id: str | None = string(nullable=True, default=None)
    acks: int = i16()
    timeout_ms: int = i32()
    topic_data: list[TopicProduceData] = array(TopicProduceData)


@struct
class BatchIndexAndErrorMessage:
    batch_index: int = i32()
    batch_index_error_message: str | None = string(nullable=True, default=None)


@struct
class LeaderIdAndEpoch:
    leader_id: int = i32(default=-1)
    leader_epoch: int = i32(default=-1)


@struct
class PartitionProduceResponse:
    index: int = i32()
    error_code: int = i16()
    base_offset: int = i64()
    log_append_time_ms: int = i64(default=-1)
    log_start_offset: int = i64(since=5, default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = array(BatchIndexAndErrorMessage, since=8)
    error_message: str | None = string(since=8, nullable=8, default=None)
    current_leader: LeaderIdAndEpoch | None = nested(LeaderIdAndEpoch, since=10, tag=0, default=None)


@struct
class TopicProduceResponse:
    name: str = string(until=12)
    topic_id: bytes = uuid(since=13)
    partition_responses: list[PartitionProduceResponse] = array(PartitionProduceResponse)


@struct
class NodeEndpoint:
    node_id: int = i32()
    host: str = string()
    port: int = i32()
    rack: str | None = string(nullable=True, default=None)


@message(api_key=0, versions=(3, 13), flexible=9)
class ProduceResponse:
    responses: list[TopicProduceResponse] = array(TopicProduceResponse)
    throttle_time_ms: int = i32()
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, since=10, tag=0)
