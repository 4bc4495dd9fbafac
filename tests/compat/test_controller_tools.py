"""Kafka's tools that ask controllers, by `--bootstrap-controller`: what they print is what they print of Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from peers import tooling
from peers.kafka import Kafka
from peers.node import Node

CLUSTER, FEATURES = "org.apache.kafka.tools.ClusterTool", "org.apache.kafka.tools.FeatureCommand"
QUORUM, CONFIGS = "org.apache.kafka.tools.MetadataQuorumCommand", "kafka.admin.ConfigCommand"
pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def server(
    server_kind: type[Node] | type[Kafka], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node | Kafka]:
    with server_kind(tmp_path_factory.mktemp("controller")) as server:
        yield server


def asked(server: Any, main: str, *arguments: str) -> str:
    address = f"127.0.0.1:{server.controller_port}"
    if main == CLUSTER:
        return tooling.run(main, address, by=(*arguments, "--bootstrap-controller"))
    return tooling.run(main, address, *arguments, by=("--bootstrap-controller",))


def test_controllers_tell_of_themselves_of_the_quorum_and_of_settings(server: Any) -> None:
    brokers = ("--entity-type", "brokers", "--entity-default")
    altered = asked(server, CONFIGS, "--alter", *brokers, "--add-config", "log.roll.ms=77777")
    assert "Completed updating default config" in altered
    questions = [
        (CLUSTER, "cluster-id"),
        (CLUSTER, "list-endpoints"),
        (QUORUM, "describe", "--status"),
        (CONFIGS, "--describe", *brokers),
    ]
    with ThreadPoolExecutor(2) as pool:
        id, endpoints, quorum, configs = pool.map(lambda question: asked(server, *question), questions)

    cluster_id = id.split()[-1]
    assert re.search(rf"^1 +\S+ +{server.controller_port} +null +controller", endpoints, re.MULTILINE)
    assert re.search(rf"ClusterId: +{cluster_id}\nLeaderId: +1\n", quorum)
    assert "min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG" in configs
    assert "log.roll.ms=77777 " in configs


def test_features_are_told_and_changed_and_the_quorums_own_only_up(server: Any) -> None:
    down = asked(server, FEATURES, "downgrade", "--feature", "eligible.leader.replicas.version=0")
    assert "eligible.leader.replicas.version was downgraded to 0." in down
    for feature in ("eligible.leader.replicas.version=1", "kraft.version=1"):
        assert "was upgraded to 1." in asked(server, FEATURES, "upgrade", "--feature", feature)

    described = asked(server, FEATURES, "describe")

    levels = dict(re.findall(r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)", described))
    expected = {
        "metadata.version": "4.3-IV0",
        "kraft.version": "1",
        "group.version": "1",
        "transaction.version": "2",
    }
    assert expected.items() <= levels.items()
    assert levels["eligible.leader.replicas.version"] == "1"
    assert re.search(r"kraft.version\s+SupportedMinVersion: 0\s+SupportedMaxVersion: 1", described)
