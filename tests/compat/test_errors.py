"""What is refused, and by which name: the same error number through every client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers.clients import Client, Record, Refused
from peers.marks import each_client

OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC_OR_PARTITION = 3
MESSAGE_TOO_LARGE = 10
INVALID_TOPIC = 17
TOPIC_ALREADY_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_REPLICATION_FACTOR = 38
INVALID_CONFIG = 40


def refusal(act: Callable[[], object]) -> int:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


@each_client("create_topic")
def test_a_topic_that_exists(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()

    assert refusal(lambda: client.create_topic(topic, 1, 1)) == TOPIC_ALREADY_EXISTS


@each_client("create_topic")
@pytest.mark.parametrize("topic", ["no spaces", "..", "a/b", "x" * 250, "naïve"])
def test_a_name_that_no_topic_may_have(client: Client, topic: str) -> None:
    assert refusal(lambda: client.create_topic(topic, 1, 1)) == INVALID_TOPIC


@each_client("create_topic")
def test_names_that_would_be_one_metric(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    dotted = topic.replace("_", ".", 1)

    assert dotted != topic
    assert refusal(lambda: client.create_topic(dotted, 1, 1)) == INVALID_TOPIC


@each_client("create_topic")
def test_more_replicas_than_brokers(client: Client, name: str) -> None:
    assert refusal(lambda: client.create_topic(name, 1, 3)) == INVALID_REPLICATION_FACTOR


@each_client("create_topic")
@pytest.mark.parametrize(
    ("config", "value"),
    [
        ("retention.ms", "soon"),
        ("segment.bytes", "3"),
        ("cleanup.policy", "burn"),
        ("no.such.config", "1"),
        ("min.cleanable.dirty.ratio", "1.5"),
    ],
)
def test_a_config_that_cannot_be(client: Client, name: str, config: str, value: str) -> None:
    assert refusal(lambda: client.create_topic(name, 1, 1, {config: value})) == INVALID_CONFIG


@each_client("alter_configs")
def test_a_change_to_a_config_that_cannot_be(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()

    assert refusal(lambda: client.alter_configs(topic, {"retention.ms": "later"})) == INVALID_CONFIG


@each_client("delete_topic")
def test_deleting_a_topic_that_is_not_there(client: Client, name: str) -> None:
    assert refusal(lambda: client.delete_topic(name)) == UNKNOWN_TOPIC_OR_PARTITION


@each_client("create_partitions")
def test_fewer_partitions_than_there_are(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=3)

    assert refusal(lambda: client.create_partitions(topic, 2)) == INVALID_PARTITIONS


@each_client("create_partitions")
def test_partitions_for_a_topic_that_is_not_there(client: Client, name: str) -> None:
    assert refusal(lambda: client.create_partitions(name, 2)) == UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("client", ["confluent", "aiokafka", "java"], indirect=True)
def test_configs_of_a_topic_that_is_not_there(client: Client, name: str) -> None:
    assert refusal(lambda: client.describe_configs(name)) == UNKNOWN_TOPIC_OR_PARTITION


@each_client("write")
def test_a_record_beyond_the_topics_limit(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(max_message_bytes="10000")

    refused = refusal(lambda: client.write(topic, [Record(None, bytes(20_000))]))

    assert refused == MESSAGE_TOO_LARGE
    assert client.write(topic, [Record(None, b"small")]) in ([0], [-1])


@each_client("read")
def test_an_offset_beyond_the_end(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    client.write(topic, [Record(None, b"only one")])

    assert refusal(lambda: client.read(topic, start=100, end=101)) == OFFSET_OUT_OF_RANGE


@each_client("delete_records")
def test_deleting_records_beyond_the_end(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()

    assert refusal(lambda: client.delete_records(topic, 0, 5)) == OFFSET_OUT_OF_RANGE
