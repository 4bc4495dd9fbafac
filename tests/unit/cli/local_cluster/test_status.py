"""What is shown of a cluster, and how it is asked for."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from andiron.cli.local_cluster.status import Snapshot, Watcher, gather
from andiron.client.blocking.client import Client
from andiron.client.core.addresses import Address
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
)
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=3)
        scripted.topics["t"].partitions[0].replica_nodes = [1, 2]
        scripted.topics["t"].partitions[1].leader_id = -1
        host, _, port = scripted.bootstrap.rpartition(":")
        rows = [
            DescribeClusterBroker(1, host, int(port)),
            DescribeClusterBroker(2, host, int(port), None, True),
        ]
        cluster = DescribeClusterResponse(cluster_id="c", controller_id=2, brokers=rows)
        scripted.on(ApiKey.DESCRIBE_CLUSTER, lambda request: cluster)
        scripted.on(ApiKey.DESCRIBE_QUORUM, lambda request: quorum())
        yield scripted


def quorum(leader: int = 1, error: int = 0) -> DescribeQuorumResponse:
    partition = DescribeQuorumResponsePartition(0, error, None, leader, 3, 9)
    return DescribeQuorumResponse(topics=[DescribeQuorumResponseTopic("__cluster_metadata", [partition])])


def test_a_snapshot_counts_what_is_wrong(broker: ScriptedBroker) -> None:
    with Client(broker.bootstrap) as client:
        snapshot = gather(client, set())

    assert snapshot == Snapshot(frozenset({1}), 1, 3, 1, 1)
    assert (
        snapshot.describe([1, 2]) == "● 1 ○ 2 · controller 1 · 3 partitions · 1 under-replicated · 1 offline"
    )


def test_a_broker_that_nobody_can_connect_to_yet_is_not_up(broker: ScriptedBroker) -> None:
    """The cluster knows of a broker that is let in before that opens its listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        row = DescribeClusterBroker(1, *taken.getsockname())
        cluster = DescribeClusterResponse(cluster_id="c", controller_id=1, brokers=[row])
        broker.on(ApiKey.DESCRIBE_CLUSTER, lambda request: cluster)
        known: set[Address] = set()
        with Client(broker.bootstrap) as client:
            assert gather(client, known).up == frozenset()
            taken.listen()
            assert gather(client, known).up == {1}
            assert len(known) == 1


def test_a_cluster_that_is_well_is_told_in_fewer_words() -> None:
    assert Snapshot(frozenset({1}), 1, 1, 0, 0).describe([1]) == "● 1 · controller 1 · 1 partition"


@pytest.mark.parametrize("answer", [quorum(-1), quorum(error=42)])
def test_between_two_leaders_there_is_no_controller(broker: ScriptedBroker, answer: Any) -> None:
    broker.on(ApiKey.DESCRIBE_QUORUM, lambda request: answer)
    with Client(broker.bootstrap) as client:
        assert gather(client, set()).controller is None


def test_a_broker_that_does_not_tell_of_its_quorum_tells_a_controller(broker: ScriptedBroker) -> None:
    del broker.versions[ApiKey.DESCRIBE_QUORUM]
    with Client(broker.bootstrap) as client:
        assert gather(client, set()).controller == 2


def test_a_watcher_has_the_latest_until_nobody_answers(broker: ScriptedBroker) -> None:
    watcher = Watcher(broker.bootstrap, expected=2)
    assert watcher.latest is None
    watcher.start()
    try:
        _until(lambda: watcher.latest is not None)
        broker.close()
        _until(lambda: watcher.latest is None)
    finally:
        watcher.stop()


def _until(holds: Any) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)
