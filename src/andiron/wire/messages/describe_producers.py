"""DescribeProducers (key 61), version 0: the producers that partitions remember.

The producer epoch is 32 bits wide here, unlike anywhere else. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@struct
class TopicRequest:
    name: str = string()
    partition_indexes: list[int] = array(i32())


@message(api_key=61, versions=(0, 0), flexible=0)
class DescribeProducersRequest:
    topics: list[TopicRequest] = array(TopicRequest)


@struct
class ProducerState:
    producer_id: int = i64()
    producer_epoch: int = i32()
    last_sequence: int = i32(default=-1)
    last_timestamp: int = i64(default=-1)
    coordinator_epoch: int = i32()
    current_txn_start_offset: int = i64(default=-1)


@struct
class PartitionResponse:
    partition_index: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    active_producers: list[ProducerState] = array(ProducerState)


@struct
class TopicResponse:
    name: str = string()
    partitions: list[PartitionResponse] = array(PartitionResponse)


@message(api_key=61, versions=(0, 0), flexible=0)
class DescribeProducersResponse:
    throttle_time_ms: int = i32()
    topics: list[TopicResponse] = array(TopicResponse)
