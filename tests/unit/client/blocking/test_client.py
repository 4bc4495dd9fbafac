"""Whom a client asks, what it believes, and how often it tries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused, Retriable, StaleMetadata
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from andiron.wire.messages.metadata import MetadataResponse
from unit.client.scripted import ScriptedBroker

IMPATIENT = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1, default_api_timeout_ms=20)
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)
P0 = TopicPartition("t", 0)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def client(broker: ScriptedBroker) -> Iterator[Client]:
    with Client(broker.bootstrap, QUICK) as made:
        yield made


def test_a_topic_is_asked_for_once(broker: ScriptedBroker, client: Client) -> None:
    assert len(client.topic("t").partitions) == 2
    client.topic("t")

    assert len(broker.requests("Metadata")) == 1


def test_a_topic_that_is_not_there_is_refused_at_once(broker: ScriptedBroker, client: Client) -> None:
    with pytest.raises(Refused, match="there is no topic 'nosuch'"):
        client.topic("nosuch")
    assert [request.allow_auto_topic_creation for request in broker.requests("Metadata")] == [False]


def test_a_topic_may_be_created_by_asking(broker: ScriptedBroker, client: Client) -> None:
    def created(request: object) -> MetadataResponse:
        broker.topic("new")
        return broker.metadata(request)

    broker.on(ApiKey.METADATA, broker.metadata, created)
    assert client.topic("new", create=True).name == "new"
    assert all(request.allow_auto_topic_creation for request in broker.requests("Metadata"))


def test_all_topics_come_by_name(broker: ScriptedBroker, client: Client) -> None:
    broker.topic("a")

    assert [topic.name for topic in client.topics()] == ["a", "t"]


def test_a_topic_that_is_gone_is_forgotten(broker: ScriptedBroker, client: Client) -> None:
    client.topic("t")
    broker.topics.clear()

    assert client.topics() == []


def test_what_has_proved_wrong_is_asked_again(broker: ScriptedBroker, client: Client) -> None:
    client.topic("t")
    client.mark_stale()
    client.topic("t")

    assert len(broker.requests("Metadata")) == 2


def test_all_that_is_known_is_asked_again_together(broker: ScriptedBroker, client: Client) -> None:
    broker.topic("other")
    client.topic("t")
    client.topic("other")
    client.mark_stale()
    client.topic("t")

    assert [each.name for each in broker.requests("Metadata")[-1].topics] == ["t", "other"]


def test_no_broker_at_all_is_an_error_at_once() -> None:
    with pytest.raises(Refused) as caught:
        Client("127.0.0.1:1,127.0.0.1:2").topics()
    assert caught.value.code is ErrorCode.BROKER_NOT_AVAILABLE
    assert "127.0.0.1:1: " in caught.value.detail
    assert "127.0.0.1:2: " in caught.value.detail


def test_a_first_broker_is_waited_for_by_who_knows_that_there_is_one(broker: ScriptedBroker) -> None:
    with (
        Client("127.0.0.1:1", IMPATIENT) as lost,
        pytest.raises(Refused, match=r"127\.0\.0\.1:1: no connection"),
    ):
        lost.reach()
    with Client(f"127.0.0.1:1,{broker.bootstrap}", QUICK) as client:
        client.reach()
        client.reach()

        assert client.metadata.brokers
    assert len(broker.requests("Metadata")) == 1


def test_one_broker_of_several_is_enough(broker: ScriptedBroker) -> None:
    with Client(f"127.0.0.1:1,{broker.bootstrap}") as client:
        assert client.topic("t").name == "t"


def test_a_lost_connection_is_made_again(broker: ScriptedBroker, client: Client) -> None:
    client.topics()
    broker.hang_up()

    assert len(client.topics()) == 1
    assert broker.connections == 2


def test_what_passes_is_tried_again(broker: ScriptedBroker, client: Client) -> None:
    answers = [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER, ErrorCode.NONE]
    broker.on(
        ApiKey.DESCRIBE_CLUSTER,
        *(lambda request, code=code: DescribeClusterResponse(error_code=code.number) for code in answers),
    )
    client.call_controller(DescribeClusterRequest(), DescribeClusterResponse, raise_error)

    assert len(broker.requests("DescribeCluster")) == 3


def test_patience_has_an_end(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.DESCRIBE_CLUSTER, lambda request: DescribeClusterResponse(error_code=7))

    with Client(broker.bootstrap, IMPATIENT) as client, pytest.raises(Retriable):
        client.call_any(DescribeClusterRequest(), DescribeClusterResponse, raise_error)


def test_a_refusal_is_raised_at_once(broker: ScriptedBroker, client: Client) -> None:
    broker.on(ApiKey.DESCRIBE_CLUSTER, lambda request: DescribeClusterResponse(error_code=31))

    with pytest.raises(Refused):
        client.call_any(DescribeClusterRequest(), DescribeClusterResponse, raise_error)
    assert len(broker.requests("DescribeCluster")) == 1


def test_a_broker_that_is_none_is_refused(client: Client) -> None:
    with pytest.raises(Refused, match="no broker 9"):
        client.call_broker(9, DescribeClusterRequest(), DescribeClusterResponse)


def test_a_cluster_without_a_controller_is_waited_for(broker: ScriptedBroker) -> None:
    broker.controller_id = -1

    with Client(broker.bootstrap, IMPATIENT) as client, pytest.raises(StaleMetadata, match="no controller"):
        client.call_controller(DescribeClusterRequest(), DescribeClusterResponse)


def test_leaders_are_asked_again_for_what_they_did_not_answer(client: Client) -> None:
    rounds: list[list[TopicPartition]] = []

    def ask(leader: Connection, asked: list[TopicPartition]) -> dict[TopicPartition, int | ProtocolError]:
        rounds.append(list(asked))
        stale = ErrorCode.NOT_LEADER_OR_FOLLOWER.error()
        return {each: each.partition if each == P0 or len(rounds) > 1 else stale for each in asked}

    both = client.topic("t").names()
    assert client.ask_leaders(both, ask) == {both[0]: 0, both[1]: 1}
    assert rounds == [both, both[1:]]


def test_a_refusal_of_one_partition_is_raised(client: Client) -> None:
    refused = ErrorCode.OFFSET_OUT_OF_RANGE.error()

    with pytest.raises(Refused):
        client.ask_leaders([P0], lambda leader, asked: dict.fromkeys(asked, refused))


def raise_error(answer: DescribeClusterResponse) -> None:
    if answer.error_code:
        raise ErrorCode.of(answer.error_code).error()


def test_a_leader_that_says_nothing_of_a_partition_is_noticed(broker: ScriptedBroker, client: Client) -> None:
    def ask(connection: Connection, asked: list[TopicPartition]) -> dict[TopicPartition, int]:
        return {}

    with pytest.raises(Refused, match="nothing was said of t-0"):
        client.ask_leaders([P0], ask)
