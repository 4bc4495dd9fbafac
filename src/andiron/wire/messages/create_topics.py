"""CreateTopics (key 19), versions 2-7.

Version 4 allows -1 for the number of partitions and of replicas, meaning the broker's default;
5 is flexible and answers with the topic's configs, 6 may refuse for a quota, 7 answers with the topic's id.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct, uuid


@struct
class CreatableReplicaAssignment:
    partition_index: int = i32()
    broker_ids: list[int] = array(i32())


@struct
class CreatableTopicConfig:
    name: str = string()
    value: str | None = string(nullable=True)


@struct
class CreatableTopic:
    name: str = string()
    num_partitions: int = i32()
    replication_factor: int = i16()
    assignments: list[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig)


@message(api_key=19, versions=(2, 7), flexible=5)
class CreateTopicsRequest:
    topics: list[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = i32(default=60_000)
    validate_only: bool = boolean()


@struct
class CreatableTopicConfigs:
    name: str = string()
    value: str | None = string(nullable=True)
    read_only: bool = boolean()
    config_source: int = i8(default=-1)
    is_sensitive: bool = boolean()


@struct
class CreatableTopicResult:
    name: str = string()
    topic_id: bytes = uuid(since=7)
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    topic_config_error_code: int = i16(since=5, tag=0)
    num_partitions: int = i32(since=5, default=-1)
    replication_factor: int = i16(since=5, default=-1)
    configs: list[CreatableTopicConfigs] | None = array(CreatableTopicConfigs, since=5, nullable=5)


@message(api_key=19, versions=(2, 7), flexible=5)
class CreateTopicsResponse:
    throttle_time_ms: int = i32()
    topics: list[CreatableTopicResult] = array(CreatableTopicResult)
