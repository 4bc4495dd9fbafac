"""OffsetFetch (key 9), versions 1-10: how far a group has read.

From version 2 on null topics ask for all and an error has a place at the top; 5 adds the leader epoch,
7 waits for pending transactions, 8 asks for several groups at once (the plural structs), 9 checks the
member, 10 names topics by id. Flexible since 6.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, string, struct, uuid


@struct
class OffsetFetchRequestTopic:
    name: str = string()
    partition_indexes: list[int] = array(i32())


@struct
class OffsetFetchRequestTopics:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partition_indexes: list[int] = array(i32())


@struct
class OffsetFetchRequestGroup:
    group_id: str = string()
    member_id: str | None = string(since=9, nullable=9, default=None)
    member_epoch: int = i32(since=9, default=-1)
    topics: list[OffsetFetchRequestTopics] | None = array(OffsetFetchRequestTopics, nullable=True)


@message(api_key=9, versions=(1, 10), flexible=6)
class OffsetFetchRequest:
    group_id: str = string(until=7)
    topics: list[OffsetFetchRequestTopic] | None = array(OffsetFetchRequestTopic, until=7, nullable=2)
    groups: list[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, since=8)
    require_stable: bool = boolean(since=7)


@struct
class OffsetFetchResponsePartition:
    partition_index: int = i32()
    committed_offset: int = i64()
    committed_leader_epoch: int = i32(since=5, default=-1)
    metadata: str | None = string(nullable=True)
    error_code: int = i16()


@struct
class OffsetFetchResponseTopic:
    name: str = string()
    partitions: list[OffsetFetchResponsePartition] = array(OffsetFetchResponsePartition)


@struct
class OffsetFetchResponsePartitions:
    partition_index: int = i32()
    committed_offset: int = i64()
    committed_leader_epoch: int = i32(default=-1)
    metadata: str | None = string(nullable=True)
    error_code: int = i16()


@struct
class OffsetFetchResponseTopics:
    name: str = string(until=9)
    topic_id: bytes = uuid(since=10)
    partitions: list[OffsetFetchResponsePartitions] = array(OffsetFetchResponsePartitions)


@struct
class OffsetFetchResponseGroup:
    group_id: str = string()
    topics: list[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics)
    error_code: int = i16()


@message(api_key=9, versions=(1, 10), flexible=6)
class OffsetFetchResponse:
    throttle_time_ms: int = i32(since=3)
    topics: list[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, until=7)
    error_code: int = i16(since=2, until=7)
    groups: list[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, since=8)
