"""Clients that push their metrics by themselves: what they tell is found with the node's own metrics."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest

from peers import clients
from peers.asking import Asker
from peers.clients.base import Record
from peers.node import Node
from peers.ports import free_port
from peers.waiting import eventually

SET = 0
CLIENT_METRICS = 16
SUBSCRIPTION = {"metrics": "org.apache.kafka.", "interval.ms": "500"}


@pytest.fixture(scope="module")
def metered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Node, str]]:
    """A node that wants to hear from all clients, and where its metrics are."""
    address = f"http://127.0.0.1:{free_port()}"
    with Node(tmp_path_factory.mktemp("node"), settings={"metrics.listener": address}) as node:
        with Asker(node.port) as asker:
            changes = [
                {"name": name, "config_operation": SET, "value": value}
                for name, value in SUBSCRIPTION.items()
            ]
            resource = {"resource_type": CLIENT_METRICS, "resource_name": "all", "configs": changes}
            answer = asker.ask("incremental_alter_configs", 1, resources=[resource], validate_only=False)
            assert answer.responses[0].error_code == 0
        yield node, f"{address}/metrics"


def test_librdkafka_pushes_what_it_is_asked_for(metered: tuple[Node, str]) -> None:
    import confluent_kafka

    node, metrics = metered
    producer = confluent_kafka.Producer({"bootstrap.servers": node.bootstrap, "client.id": "telling"})
    producer.produce("t", b"value")
    producer.flush(30)

    def has_told() -> bool:
        producer.poll(0.05)
        return _told(metrics, "telling", "confluent-kafka-python")

    eventually(has_told)


@pytest.mark.java
def test_the_java_client_pushes_what_it_is_asked_for(metered: tuple[Node, str]) -> None:
    node, metrics = metered
    java = clients.connect("java", node.bootstrap)
    java.create_topic("of-java", 1, 1)

    def has_told() -> bool:
        java.write("of-java", [Record(None, b"value")])
        return _told(metrics, "", "apache-kafka-java")

    eventually(has_told)


def _told(metrics: str, client_id: str, software: str) -> bool:
    with urllib.request.urlopen(metrics) as answer:
        lines = answer.read().decode().splitlines()
    return any(
        line.startswith(("andiron_client_metric{", "andiron_client_sum_total{"))
        and 'metric="org.apache.kafka.' in line
        and f'client_id="{client_id}' in line
        and f'client_software="{software} ' in line
        for line in lines
    )
