"""DescribeLogDirs (key 35), versions 1-5: what lies in each log directory, and how large it is.

Null topics ask for all. Version 2 is flexible, 3 adds an error for the whole response, 4 the
room on the volume, 5 whether the directory is cordoned.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, string, struct


@struct
class DescribableLogDirTopic:
    topic: str = string()
    partitions: list[int] = array(i32())


@message(api_key=35, versions=(1, 5), flexible=2)
class DescribeLogDirsRequest:
    topics: list[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, nullable=True)


@struct
class DescribeLogDirsPartition:
    partition_index: int = i32()
    partition_size: int = i64()
    offset_lag: int = i64()
    is_future_key: bool = boolean()


@struct
class DescribeLogDirsTopic:
    name: str = string()
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


@struct
class DescribeLogDirsResult:
    error_code: int = i16()
    log_dir: str = string()
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = i64(since=4, default=-1)
    usable_bytes: int = i64(since=4, default=-1)
    is_cordoned: bool = boolean(since=5)


@message(api_key=35, versions=(1, 5), flexible=2)
class DescribeLogDirsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16(since=3)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult)
