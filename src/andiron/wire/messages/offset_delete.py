"""OffsetDelete (key 47), version 0: a group forgets its offsets of some partitions.

Mind the order in the answer: the error comes before the throttle time. Never flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct


@struct
class OffsetDeleteRequestPartition:
    partition_index: int = i32()


@struct
class OffsetDeleteRequestTopic:
    name: str = string()
    partitions: list[OffsetDeleteRequestPartition] = array(OffsetDeleteRequestPartition)


@message(api_key=47, versions=(0, 0))
class OffsetDeleteRequest:
    group_id: str = string()
    topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic)


@struct
class OffsetDeleteResponsePartition:
    partition_index: int = i32()
    error_code: int = i16()


@struct
class OffsetDeleteResponseTopic:
    name: str = string()
    partitions: list[OffsetDeleteResponsePartition] = array(OffsetDeleteResponsePartition)


@message(api_key=47, versions=(0, 0))
class OffsetDeleteResponse:
    error_code: int = i16()
    throttle_time_ms: int = i32()
    topics: list[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic)
