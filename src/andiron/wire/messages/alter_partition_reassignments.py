"""AlterPartitionReassignments (key 45), versions 0-1: give partitions a new set of replicas.

Null replicas cancel a move under way. Version 1 can ask that no move changes the replication factor.
Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, string, struct


@struct
class ReassignablePartition:
    partition_index: int = i32()
    replicas: list[int] | None = array(i32(), nullable=True, default=None)


@struct
class ReassignableTopic:
    name: str = string()
    partitions: list[ReassignablePartition] = array(ReassignablePartition)


@message(api_key=45, versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsRequest:
    timeout_ms: int = i32(default=60_000)
    allow_replication_factor_change: bool = boolean(since=1, default=True)
    topics: list[ReassignableTopic] = array(ReassignableTopic)


@struct
class ReassignablePartitionResponse:
    partition_index: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@struct
class ReassignableTopicResponse:
    name: str = string()
    partitions: list[ReassignablePartitionResponse] = array(ReassignablePartitionResponse)


@message(api_key=45, versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsResponse:
    throttle_time_ms: int = i32()
    allow_replication_factor_change: bool = boolean(since=1, default=True)
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse)
