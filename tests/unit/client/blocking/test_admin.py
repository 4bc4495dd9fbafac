"""What an admin asks, of whom, and how refusals come back. Against real brokers: tests/cli."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import (
    EARLIEST,
    LATEST,
    LogDir,
    OffsetAt,
    Resource,
    ResourceType,
)
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, Refused
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from andiron.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from andiron.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from andiron.wire.messages.list_offsets import ListOffsetsResponse
from unit.client.logs import Logs
from unit.client.scripted import NODE_ID, ScriptedBroker

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
TOPIC, BROKER = Resource(ResourceType.TOPIC, "t"), Resource(ResourceType.BROKER, str(NODE_ID))
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def admin(broker: ScriptedBroker) -> Iterator[Admin]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as client:
        yield Admin(client)


def test_a_new_topic_is_there_when_the_call_returns(broker: ScriptedBroker, admin: Admin) -> None:
    def create(request: Any) -> CreateTopicsResponse:
        return CreateTopicsResponse(topics=[CreatableTopicResult("new")])

    def now_led(request: Any) -> Any:
        broker.topic("new", partitions=3)
        return broker.metadata(request)

    broker.on(ApiKey.CREATE_TOPICS, create)
    broker.on(ApiKey.METADATA, broker.metadata, broker.metadata, now_led)
    Logs(broker)

    assert len(admin.create_topic("new", 3, configs={"retention.ms": "1"}).partitions) == 3
    (request,) = broker.requests("CreateTopics")
    (topic,) = request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("new", 3, -1)
    assert [(each.name, each.value) for each in topic.configs] == [("retention.ms", "1")]


def test_a_new_topic_is_waited_for_until_its_leaders_take_records(
    broker: ScriptedBroker, admin: Admin
) -> None:
    def create(request: Any) -> CreateTopicsResponse:
        broker.topic("new", partitions=3)
        return CreateTopicsResponse(topics=[CreatableTopicResult("new")])

    def not_yet(request: Any) -> ListOffsetsResponse:
        answer = logs.list_offsets(request)
        answer.topics[0].partitions[1].error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER.number
        return answer

    logs = Logs(broker)
    broker.on(ApiKey.CREATE_TOPICS, create)
    broker.on(ApiKey.LIST_OFFSETS, not_yet, not_yet, logs.list_offsets)
    missing: list[str] = []

    admin.create_topic("new", 3, waits_for=missing.append)

    assert missing == ["broker 1 leads 3 partitions and takes records for 2"] * 2


def test_a_topic_that_is_there_is_refused_in_the_brokers_words(broker: ScriptedBroker, admin: Admin) -> None:
    result = CreatableTopicResult("t", error_code=36, error_message="it is there")
    broker.on(ApiKey.CREATE_TOPICS, lambda request: CreateTopicsResponse(topics=[result]))

    with pytest.raises(Refused) as caught:
        admin.create_topic("t")
    assert caught.value.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert caught.value.detail == "topic 't': it is there"


def test_more_partitions_are_a_new_total(broker: ScriptedBroker, admin: Admin) -> None:
    def more(request: Any) -> CreatePartitionsResponse:
        broker.topic("t", partitions=request.topics[0].count)
        return CreatePartitionsResponse(results=[CreatePartitionsTopicResult("t")])

    broker.on(ApiKey.CREATE_PARTITIONS, more)
    Logs(broker)

    assert len(admin.create_partitions("t", 5).partitions) == 5


def test_a_deleted_topic_is_forgotten(broker: ScriptedBroker, admin: Admin) -> None:
    def delete(request: Any) -> DeleteTopicsResponse:
        broker.topics.clear()
        return DeleteTopicsResponse(responses=[DeletableTopicResult("t")])

    broker.on(ApiKey.DELETE_TOPICS, delete)
    admin.topic("t")
    admin.delete_topic("t")

    with pytest.raises(Refused):
        admin.topic("t")


def test_a_topic_that_is_not_there_is_refused_at_once(broker: ScriptedBroker, admin: Admin) -> None:
    broker.on(
        ApiKey.DELETE_TOPICS,
        lambda request: DeleteTopicsResponse(responses=[DeletableTopicResult("x", error_code=UNKNOWN)]),
    )

    with pytest.raises(Refused, match="there is no topic 'x'"):
        admin.delete_topic("x")
    assert len(broker.requests("DeleteTopics")) == 1


def test_settings_come_by_name(broker: ScriptedBroker, admin: Admin) -> None:
    rows = [DescribeConfigsResourceResult("b", "1"), DescribeConfigsResourceResult("a", "2")]
    result = DescribeConfigsResult(0, None, 2, "t", rows)
    broker.on(ApiKey.DESCRIBE_CONFIGS, lambda request: DescribeConfigsResponse(results=[result]))

    assert [(each.name, each.value) for each in admin.configs(TOPIC)] == [("a", "2"), ("b", "1")]
    assert [each.name for each in admin.configs(BROKER)] == ["a", "b"]


def test_settings_of_a_broker_that_is_not_there_are_refused(admin: Admin) -> None:
    with pytest.raises(Refused, match="no broker 9"):
        admin.configs(Resource(ResourceType.BROKER, "9"))


def test_settings_are_set_and_taken_back(broker: ScriptedBroker, admin: Admin) -> None:
    broker.on(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        lambda request: IncrementalAlterConfigsResponse(responses=[AlterConfigsResourceResponse()]),
    )
    admin.alter_configs(TOPIC, {"a": "1"}, ["b"])

    (request,) = broker.requests("IncrementalAlterConfigs")
    changes = [(each.name, each.config_operation, each.value) for each in request.resources[0].configs]
    assert changes == [("a", 0, "1"), ("b", 1, None)]


def test_offsets_are_asked_of_the_leaders(broker: ScriptedBroker, admin: Admin) -> None:
    Logs(broker).write(1, b"a", b"b")

    assert admin.list_offsets({P0: LATEST, P1: LATEST}) == {P0: OffsetAt(0, -1, -1), P1: OffsetAt(2, -1, -1)}
    assert admin.list_offsets({P1: EARLIEST})[P1].offset == 0


def test_offsets_may_be_those_of_committed_records(broker: ScriptedBroker, admin: Admin) -> None:
    Logs(broker)
    admin.list_offsets({P0: LATEST})
    admin.list_offsets({P0: LATEST}, committed=True)

    assert [request.isolation_level for request in broker.requests("ListOffsets")] == [0, 1]


def test_nothing_asked_is_nothing_answered(broker: ScriptedBroker, admin: Admin) -> None:
    assert admin.list_offsets({}) == {}
    assert broker.asked == []


def test_deleting_records_tells_where_logs_start(broker: ScriptedBroker, admin: Admin) -> None:
    def delete(request: Any) -> DeleteRecordsResponse:
        (topic,) = request.topics
        rows = [DeleteRecordsPartitionResult(each.partition_index, each.offset) for each in topic.partitions]
        return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("t", rows)])

    broker.on(ApiKey.DELETE_RECORDS, delete)

    assert admin.delete_records({P0: 0, P1: 7}) == {P0: 0, P1: 7}


def test_log_directories_tell_sizes(broker: ScriptedBroker, admin: Admin) -> None:
    topic = DescribeLogDirsTopic("t", [DescribeLogDirsPartition(0, 123)])
    result = DescribeLogDirsResult(0, "/data", [topic], 10, 5)
    broker.on(ApiKey.DESCRIBE_LOG_DIRS, lambda request: DescribeLogDirsResponse(results=[result]))

    assert admin.log_dirs(NODE_ID) == [LogDir("/data", {P0: 123}, 10, 5)]
    admin.log_dirs(NODE_ID, [P0, P1])
    everything, some = broker.requests("DescribeLogDirs")
    assert everything.topics is None
    assert [(each.topic, each.partitions) for each in some.topics] == [("t", [0, 1])]


def test_the_cluster_is_told(broker: ScriptedBroker, admin: Admin) -> None:
    brokers = [DescribeClusterBroker(2, "two", 2), DescribeClusterBroker(1, "one", 1)]
    broker.on(
        ApiKey.DESCRIBE_CLUSTER,
        lambda request: DescribeClusterResponse(cluster_id="c", controller_id=2, brokers=brokers),
    )
    cluster = admin.cluster()

    assert (cluster.id, cluster.controller_id) == ("c", 2)
    assert [each.id for each in cluster.brokers] == [1, 2]
