"""Topics through every client: created, listed, described, grown, deleted; and created by mere mention."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import clients
from peers.clients import Client, Record, Refused
from peers.marks import each_client
from peers.process import Server
from peers.waiting import eventually

UNKNOWN_TOPIC_OR_PARTITION = 3
LEADER_NOT_AVAILABLE = 5


@each_client("create_topic", "topics", "describe_topic")
def test_a_created_topic_is_listed_and_described(client: Client, name: str) -> None:
    client.create_topic(name, partitions=3, replicas=1)

    eventually(lambda: name in client.topics())
    leader = client.describe_cluster().controller
    assert client.describe_topic(name) == {0: leader, 1: leader, 2: leader}


@pytest.mark.parametrize("client", ["confluent", "kafka_python", "java"], indirect=True)
def test_a_topic_takes_the_brokers_defaults_for_what_is_left_out(client: Client, name: str) -> None:
    client.create_topic(name)

    eventually(lambda: len(client.describe_topic(name)) == 1)


@each_client("create_partitions", "describe_topic")
def test_partitions_are_added(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=1)

    client.create_partitions(topic, 4)

    eventually(lambda: sorted(client.describe_topic(topic)) == [0, 1, 2, 3])


@each_client("delete_topic", "topics")
def test_a_deleted_topic_is_gone(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(partitions=2)

    client.delete_topic(topic)

    eventually(lambda: topic not in client.topics())


def test_a_topic_made_again_under_its_old_name_is_empty(node: Server, name: str) -> None:
    client = clients.connect("confluent", node.bootstrap)
    client.create_topic(name, 1, 1)
    client.write(name, [Record(b"k", b"before")] * 3)
    client.delete_topic(name)
    eventually(lambda: name not in client.topics())

    client.create_topic(name, 1, 1)
    eventually(
        lambda: clients.connect("confluent", node.bootstrap).write(name, [Record(b"k", b"after")]) == [0]
    )

    assert [record.value for record in client.read(name, end=1)] == [b"after"]


@each_client("write", "read")
def test_writing_to_a_topic_that_is_not_there_creates_it(client: Client, name: str) -> None:
    # Kafka creates it a moment later, which is too late for the first try of some.
    eventually(lambda: client.write(name, [Record(None, b"made by mention")]) is not None)

    assert client.read(name, end=1)[0].value == b"made by mention"


@pytest.mark.parametrize("client", ["kafka_python", "java"], indirect=True)
def test_asking_does_not_create_a_topic(client: Client, node: Server, name: str) -> None:
    with pytest.raises(Refused) as refused:
        client.describe_topic(name)

    assert refused.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert name not in clients.connect("confluent", node.bootstrap).topics()
