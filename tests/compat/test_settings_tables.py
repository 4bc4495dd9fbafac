"""The tables of settings beside those of a Kafka that runs: each setting, with its type, value and reach.

What differs on purpose stands in `DIFFERENT`, and nothing else may.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from peers import kafka_settings
from peers.asking import Asker
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.waiting import eventually

pytestmark = [pytest.mark.java, pytest.mark.slow]

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
NAMES = {TOPIC: "t", BROKER: "1", CLIENT_METRICS: "m", GROUP: "g"}
# Of the machine, of the start (ports, folders), and what is said in the docs to be another default here.
OF_THIS_NODE = {
    "advertised.listeners", "broker.id", "controller.quorum.voters", "controller.listener.names", "listeners",
    "listener.security.protocol.map", "log.dirs", "log.dir", "node.id", "process.roles",
}  # fmt: skip
# Ours, and those that Kafka shows once they are set.
OURS_ALONE = {
    "metrics.listener", "leader.replication.throttled.rate", "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
}  # fmt: skip
# Andiron serves a lone node out of the box; `andiron up` gives these to a node that was given none of them.
GIVEN_BY_UP = {
    "group.initial.rebalance.delay.ms", "offsets.topic.replication.factor",
    "transaction.state.log.min.isr", "transaction.state.log.replication.factor",
    "transaction.two.phase.commit.enable",
}  # fmt: skip
DIFFERENT = {
    "socket.receive.buffer.bytes",  # docs/settings.md
    "min.insync.replicas",  # its source: Kafka gives it to all brokers where eligible leader replicas are on
}
NOT_LIVE = {"listeners", "listener.security.protocol.map"}  # sockets are opened once, at the start


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    with Node(tmp_path_factory.mktemp("ours")) as ours, Kafka(tmp_path_factory.mktemp("kafka")) as kafka:
        for server in (ours, kafka):
            with Asker(server.port) as asker:
                made = asker.ask("create_topics", 7, topics=[_new_topic()], timeout=30000)
                assert made.topics[0].error_code == 0
        yield ours, kafka


@pytest.mark.parametrize("kind", NAMES)
def test_each_resource_has_kafkas_settings(both: tuple[Server, Server], kind: int) -> None:
    ours, theirs = (table(server, kind) for server in both)

    assert ours.keys() - OURS_ALONE == theirs.keys()
    unlike = {
        name: (ours[name], shown)
        for name, shown in theirs.items()
        if name not in OF_THIS_NODE | GIVEN_BY_UP | DIFFERENT and ours[name] != shown
    }
    assert unlike == {}
    read_only = {name for name, shown in theirs.items() if ours[name]["read_only"] != shown["read_only"]}
    assert read_only <= NOT_LIVE


def test_the_golden_table_is_what_the_jars_say() -> None:
    golden = json.loads(kafka_settings.GOLDEN.read_text())

    assert kafka_settings.read() == {kind: table for kind, table in golden.items() if kind != "about"}


def table(server: Server, kind: int) -> dict[str, dict[str, Any]]:
    """What DescribeConfigs tells of a resource, by name."""
    with Asker(server.port) as asker:

        def described() -> Any:
            wanted = {"resource_type": kind, "resource_name": NAMES[kind], "configuration_keys": None}
            return asker.ask("describe_configs", 4, resources=[wanted]).results[0]

        eventually(lambda: described().error_code == 0)
        return {
            config.name: {
                "type": config.config_type,
                "value": config.value,
                "read_only": config.read_only,
                "source": config.config_source,
                "secret": config.is_sensitive,
            }
            for config in described().configs
        }


def _new_topic() -> dict[str, Any]:
    return {"name": "t", "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
