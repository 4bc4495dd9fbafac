"""ListPartitionReassignments (key 46), version 0: the moves under way.

Null topics ask for all. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct


@struct
class ListPartitionReassignmentsTopics:
    name: str = string()
    partition_indexes: list[int] = array(i32())


@message(api_key=46, versions=(0, 0), flexible=0)
class ListPartitionReassignmentsRequest:
    timeout_ms: int = i32(default=60_000)
    topics: list[ListPartitionReassignmentsTopics] | None = array(
        ListPartitionReassignmentsTopics, nullable=True, default=None
    )


@struct
class OngoingPartitionReassignment:
    partition_index: int = i32()
    replicas: list[int] = array(i32())
    adding_replicas: list[int] = array(i32())
    removing_replicas: list[int] = array(i32())


@struct
class OngoingTopicReassignment:
    name: str = string()
    partitions: list[OngoingPartitionReassignment] = array(OngoingPartitionReassignment)


@message(api_key=46, versions=(0, 0), flexible=0)
class ListPartitionReassignmentsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment)
