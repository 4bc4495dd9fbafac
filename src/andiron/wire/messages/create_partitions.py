"""CreatePartitions (key 37), versions 0-3: give topics more partitions.

`count` is the new total. Version 2 is flexible, 3 may refuse for a quota.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, string, struct


@struct
class CreatePartitionsAssignment:
    broker_ids: list[int] = array(i32())


@struct
class CreatePartitionsTopic:
    name: str = string()
    count: int = i32()
    assignments: list[CreatePartitionsAssignment] | None = array(CreatePartitionsAssignment, nullable=True)


@message(api_key=37, versions=(0, 3), flexible=2)
class CreatePartitionsRequest:
    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic)
    timeout_ms: int = i32()
    validate_only: bool = boolean()


@struct
class CreatePartitionsTopicResult:
    name: str = string()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@message(api_key=37, versions=(0, 3), flexible=2)
class CreatePartitionsResponse:
    throttle_time_ms: int = i32()
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult)
