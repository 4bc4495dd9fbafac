"""Real nodes in processes of their own, scraped over HTTP, beside loads whose figures are known."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from edge.scraping import get, scrape, until
from peers.node import Node
from peers.node_cluster import NodeCluster
from peers.ports import free_port

T0 = '{topic="t",partition="0"}'


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    settings = {"metrics.listener": f"http://localhost:{free_port()}", "log.flush.interval.messages": "1"}
    with Node(tmp_path, settings=settings).start() as started:
        yield started


@pytest.fixture
def port(node: Node) -> int:
    return int(node.settings["metrics.listener"].rpartition(":")[2])


def write(bootstrap: str, count: int, topic: str = "t", acks: str = "all") -> None:
    """One batch for each record."""
    producer = Producer({"bootstrap.servers": bootstrap, "acks": acks})
    for number in range(count):
        producer.produce(topic, value=b"x" * 100, key=str(number), partition=0)
        assert producer.flush(30) == 0


def commit(bootstrap: str, offset: int) -> Consumer:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.commit(offsets=[TopicPartition("t", 0, offset)], asynchronous=False)
    return consumer


def test_a_known_load_shows_as_what_it_is(node, port):
    write(node.bootstrap, 10)
    size = (node.data / "t-0" / "00000000000000000000.log").stat().st_size
    consumer = commit(node.bootstrap, 4)
    consumer.assign([TopicPartition("t", 0, 0)])
    got = 0
    while got < 10:
        got += consumer.poll(10) is not None

    seen = scrape(port)

    assert seen['andiron_topic_messages_in_total{topic="t"}'] == 10
    assert seen['andiron_topic_bytes_in_total{topic="t"}'] == size
    assert seen['andiron_topic_bytes_out_total{topic="t"}'] >= size
    assert seen[f"andiron_partition_log_end_offset{T0}"] == 10
    assert seen[f"andiron_partition_log_size_bytes{T0}"] == size
    assert seen['andiron_request_duration_seconds_count{api="Produce"}'] == 10
    assert seen['andiron_request_wait_seconds_count{api="Produce"}'] == 10, "each waited for its fsync"
    assert seen["andiron_flush_duration_seconds_count"] >= 10
    assert seen['andiron_group_lag_records{group="g",topic="t",partition="0"}'] == 6
    assert 0 < seen['andiron_group_lag_seconds{group="g",topic="t",partition="0"}'] < 60
    assert seen['andiron_connections{listener="PLAINTEXT"}'] >= 1
    assert 0 <= seen["andiron_loop_idle_ratio"] <= 1
    assert seen["andiron_active_controller"] == seen["andiron_broker_state"] / 3 == 1
    assert seen["andiron_internal_failures_total"] == 0
    assert seen["process_resident_memory_bytes"] > 10 << 20
    consumer.close()


def test_prometheus_own_library_reads_it(node, port):
    parser: Any = pytest.importorskip("prometheus_client.parser")
    write(node.bootstrap, 1)
    _, text = get(port)

    names = [family.name for family in parser.text_string_to_metric_families(text)]

    assert len(names) == len(set(names)) > 60


def test_health_and_what_is_not_there(node, port):
    assert get(port, "/healthz") == (200, "ready\n")
    assert get(port, "/admin")[0] == 404


def test_garbage_at_the_port_hurts_nobody(node, port):
    for junk in (b"\x00\x00\x00\x10junk", b"GET", b"\r\n" * 10_000, b"\xff" * 20_000):
        with socket.create_connection(("localhost", port)) as client:
            client.sendall(junk)
    write(node.bootstrap, 1)

    assert scrape(port)["andiron_internal_failures_total"] == 0
    assert "Traceback" not in node.printed()


def test_a_node_that_is_told_nothing_has_no_such_port(tmp_path):
    with Node(tmp_path).start() as plain:
        assert "metrics are" not in plain.printed()


@pytest.mark.slow
def test_a_broker_that_is_killed_leaves_its_mark_until_it_is_back(tmp_path):
    with NodeCluster(tmp_path, options=("--restart",)).start() as cluster:
        ports = {node: metrics_port(cluster, node) for node in (1, 2, 3)}
        write(cluster.bootstrap, 5)

        def total(name: str, *nodes: int) -> float:
            return sum(scrape(ports[node]).get(name, 0) for node in nodes)

        until(lambda: total(f"andiron_partition_in_sync_replicas{T0}", 1, 2, 3) == 3)
        assert total("andiron_under_replicated_partitions", 1, 2, 3) == 0
        assert total("andiron_active_controller", 1, 2, 3) == 1
        assert total("andiron_active_brokers", 1, 2, 3) == 3
        assert total('andiron_topic_messages_in_total{topic="t"}', 1, 2, 3) == 5
        replicated = total('andiron_topic_replication_bytes_in_total{topic="t"}', 1, 2, 3)
        assert replicated == 2 * total('andiron_topic_bytes_in_total{topic="t"}', 1, 2, 3)

        lost = next(node for node in (3, 2, 1) if not scrape(ports[node])["andiron_active_controller"])
        left = [node for node in (1, 2, 3) if node != lost]
        cluster.kill_node(lost)
        until(lambda: total("andiron_under_replicated_partitions", *left) == 1)
        assert total("andiron_isr_shrinks_total", *left) == 1
        assert total("andiron_offline_partitions", *left) == 0

        until(lambda: lost in cluster.node_pids() and is_up(ports[lost]))
        until(lambda: total("andiron_under_replicated_partitions", 1, 2, 3) == 0)
        assert total("andiron_fenced_brokers", 1, 2, 3) == 0


def metrics_port(cluster: NodeCluster, node: int) -> int:
    properties = (cluster.data / f"node-{node}" / "server.properties").read_text()
    (line,) = [each for each in properties.splitlines() if each.startswith("metrics.listener=")]
    return int(line.rpartition(":")[2])


def is_up(port: int) -> bool:
    try:
        return get(port, "/healthz")[0] == 200
    except OSError:
        return False
