"""Configs of topics and brokers through every client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers.clients import Client
from peers.clients.java import Java
from peers.marks import each_client
from peers.waiting import eventually

# What Kafka's documentation promises of a new topic.
DEFAULTS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "delete.retention.ms": "86400000",
    "index.interval.bytes": "4096",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.ms": "604800000",
}


@each_client("create_topic", "describe_configs")
def test_a_topic_is_described_with_all_its_defaults(client: Client, name: str) -> None:
    client.create_topic(name, 1, 1)

    eventually(lambda: DEFAULTS.items() <= client.describe_configs(name).items())


@each_client("create_topic", "describe_configs")
def test_configs_given_at_creation_are_told(client: Client, name: str) -> None:
    wanted = {"cleanup.policy": "compact", "segment.bytes": "2000000", "min.cleanable.dirty.ratio": "0.1"}

    client.create_topic(name, 1, 1, wanted)

    eventually(lambda: wanted.items() <= client.describe_configs(name).items())


@each_client("alter_configs", "describe_configs")
def test_a_changed_config_is_told(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()

    client.alter_configs(topic, {"retention.ms": "123456789"})

    eventually(lambda: client.describe_configs(topic)["retention.ms"] == "123456789")


@each_client("describe_broker_configs")
def test_a_broker_tells_its_configs(client: Client) -> None:
    broker = client.describe_cluster().controller

    found = client.describe_broker_configs(broker)

    assert found["log.segment.bytes"] == "1073741824"
    assert found["num.partitions"] == "1"
    assert found["node.id"] == str(broker)


@pytest.mark.java
def test_a_config_has_a_source_and_a_type(
    connect: Callable[[str], Client], make_topic: Callable[..., str]
) -> None:
    java = connect("java")
    assert isinstance(java, Java)
    topic = make_topic(segment_bytes="2000000")

    found = java.call("describe_configs", topic=topic)

    kept = {"value": "2000000", "source": "DYNAMIC_TOPIC_CONFIG", "type": "INT", "read_only": False}
    default = {"value": "0.5", "source": "DEFAULT_CONFIG", "type": "DOUBLE", "read_only": False}
    assert found["segment.bytes"] == kept
    assert found["min.cleanable.dirty.ratio"] == default


@pytest.mark.java
def test_a_config_taken_back_is_the_default_again(
    connect: Callable[[str], Client], make_topic: Callable[..., str]
) -> None:
    java = connect("java")
    assert isinstance(java, Java)
    topic = make_topic(segment_bytes="2000000")

    java.alter_configs(topic, {"segment.bytes": None})

    eventually(lambda: java.describe_configs(topic)["segment.bytes"] == "1073741824")
