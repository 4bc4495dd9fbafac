"""The tables of settings beside those of a Kafka that runs: each setting, with its type, value and reach.

What differs on purpose stands in `DIFFERENT`, and nothing else may.
"""

from __future__ import annotations

import json
from pathlib import Path
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
    "metrics.listener", "network.threads.busy.ratio", "leader.replication.throttled.rate",
    "follower.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second",
}  # fmt: skip
# Andiron serves a lone node out of the box; `andiron up` gives these to a node that was given none of them.
GIVEN_BY_UP = {
    "group.initial.rebalance.delay.ms", "offsets.topic.replication.factor",
    "transaction.state.log.min.isr", "transaction.state.log.replication.factor",
    "transaction.two.phase.commit.enable",
}  # fmt: skip
DIFFERENT = {"socket.receive.buffer.bytes"}  # docs/settings.md
NOT_LIVE = {"listeners", "listener.security.protocol.map"}  # sockets are opened once, at the start


def test_each_resource_has_kafkas_settings(tmp_path: Path) -> None:
    """One test for all kinds: a Kafka for each would take longer than the rest of it."""
    with Node(tmp_path / "ours") as ours, Kafka(tmp_path / "kafka") as kafka:
        for server in (ours, kafka):
            with Asker(server.port) as asker:
                made = asker.ask("create_topics", 7, topics=[_new_topic()], timeout=30000)
                assert made.topics[0].error_code == 0
        unlike = {kind: differences(table(ours, kind), table(kafka, kind)) for kind in NAMES}

    assert unlike == {kind: {} for kind in NAMES}


def differences(ours: dict[str, dict[str, Any]], theirs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What no exception covers, by name: here, and in Kafka."""
    excepted = OF_THIS_NODE | GIVEN_BY_UP | DIFFERENT

    def is_alike(name: str, here: dict[str, Any] | None, there: dict[str, Any] | None) -> bool:
        if here is None or there is None:
            return here == there
        read_only = here["read_only"] == there["read_only"] or name in NOT_LIVE
        return read_only and (name in excepted or here == there)

    both = {name: (ours.get(name), theirs.get(name)) for name in {**ours, **theirs}.keys() - OURS_ALONE}
    return {name: (here, there) for name, (here, there) in both.items() if not is_alike(name, here, there)}


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
