"""DeleteRecords (key 21), versions 0-2: move the start of a log.

An offset of -1 means the high watermark: delete all that is committed. Version 2 is flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, i64, message, string, struct


@struct
class DeleteRecordsPartition:
    partition_index: int = i32()
    offset: int = i64()


@struct
class DeleteRecordsTopic:
    name: str = string()
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition)


@message(api_key=21, versions=(0, 2), flexible=2)
class DeleteRecordsRequest:
    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = i32()


@struct
class DeleteRecordsPartitionResult:
    partition_index: int = i32()
    low_watermark: int = i64()
    error_code: int = i16()


@struct
class DeleteRecordsTopicResult:
    name: str = string()
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


@message(api_key=21, versions=(0, 2), flexible=2)
class DeleteRecordsResponse:
    throttle_time_ms: int = i32()
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
