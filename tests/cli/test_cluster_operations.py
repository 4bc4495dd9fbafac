"""What docs/operations.md promises to whoever looks after a cluster, done on one: brokers come, go, die and forget."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from andiron.cli.cluster.report import ClusterReport
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.blocking.producer import Producer
from andiron.client.core.metadata import NO_LEADER, Partition
from cli.conftest import command
from peers.node_cluster import NodeCluster

pytestmark = pytest.mark.slow
RECORDS = 2000


class Operated(NodeCluster):
    """A cluster, and the commands that are given to it."""

    def andiron(self, *arguments: object, stdin: str = "", fails: int = 0) -> str:
        done = subprocess.run(
            command(*arguments, "-b", self.bootstrap),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == fails, done
        assert "Traceback" not in done.stderr
        return done.stdout if not fails else done.stderr

    def described(self) -> Any:
        """What `andiron cluster describe --json` prints, without a process for it: it is asked often."""
        with Client(self.bootstrap) as client:
            return ClusterReport.gather(ClusterAdmin(client), Admin(client)).as_json()

    def fill(self, topic: str, replicas: int = 3) -> None:
        self.andiron("topic", "create", topic, "--partitions", 6, "--replication-factor", replicas)
        self.andiron("produce", topic, stdin="".join(f"{number}\n" for number in range(RECORDS)))

    def values(self, topic: str) -> list[int]:
        return sorted(map(int, self.andiron("consume", topic).split()))

    def wait_until_well(self, brokers: int) -> None:
        """All of them alive, and everything in sync."""

        def well() -> bool:
            cluster = self.described()
            alive = [each for each in cluster["brokers"] if each["state"] == "alive"]
            return len(alive) == brokers and not cluster["unwell"]

        until(well)

    def folder_of(self, node: int) -> Path:
        return self.data / f"node-{node}"


def until(holds: Callable[[], object], timeout_s: float = 90) -> None:
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Operated]]:
    made: list[Operated] = []

    def make_one(count: int, *options: str, **settings: str) -> Operated:
        given = {name.replace("_", "."): value for name, value in settings.items()}
        made.append(Operated(tmp_path / "cluster", count, given, options))
        cluster = made[-1]
        cluster.start()
        return cluster

    yield make_one
    for each in made:
        for pid in each.node_pids().values():
            os.kill(pid, signal.SIGCONT)  # who is held cannot end
        with contextlib.suppress(subprocess.TimeoutExpired):
            each.stop()


def test_a_broker_is_emptied_stopped_and_struck(make: Callable[..., Operated]) -> None:
    cluster = make(4)
    cluster.fill("orders")
    cluster.andiron("cluster", "drain", 4, "--yes")
    assert cluster.described()["brokers"][3]["replicas"] == 0

    os.kill(cluster.node_pids()[4], signal.SIGTERM)
    until(lambda: 4 not in cluster.node_pids())
    until(lambda: cluster.described()["brokers"][3]["state"] == "fenced")
    cluster.andiron("cluster", "unregister", 4, "--yes")

    until(lambda: [each["id"] for each in cluster.described()["brokers"]] == [1, 2, 3])
    assert cluster.values("orders") == list(range(RECORDS))


def test_a_broker_that_is_dead_is_emptied_too(make: Callable[..., Operated]) -> None:
    cluster = make(4)
    cluster.fill("orders")
    cluster.kill_node(4)
    until(lambda: cluster.described()["brokers"][3]["state"] == "fenced")
    cluster.andiron("cluster", "drain", 4, "--yes")

    cluster.wait_until_well(3)
    assert cluster.values("orders") == list(range(RECORDS))


def test_a_new_broker_gets_its_share(make: Callable[..., Operated]) -> None:
    first = make(3)
    first.fill("orders", replicas=2)
    assert first.stop() == 0
    first.count = 4
    first.start()
    first.wait_until_well(4)
    first.andiron("cluster", "reassign", "--topic", "orders", "--execute", "--wait")

    assert [each["replicas"] for each in first.described()["brokers"]] == [3, 3, 3, 3]
    assert first.values("orders") == list(range(RECORDS))


@pytest.mark.parametrize("node", [1, 3])
def test_a_node_that_lost_its_disk_copies_all_of_it(make: Callable[..., Operated], node: int) -> None:
    cluster = make(3)
    cluster.fill("orders")
    cluster.wait_until_well(3)
    cluster.kill_node(node)
    until(lambda: node not in cluster.node_pids())
    cluster.stop()
    shutil.rmtree(cluster.folder_of(node))
    cluster.start()
    cluster.wait_until_well(3)

    assert cluster.values("orders") == list(range(RECORDS))
    assert json.loads(cluster.andiron("cluster", "quorum", "--json"))["max_lag"] is not None


def test_writers_do_not_notice_a_rolling_restart(make: Callable[..., Operated]) -> None:
    """Every record that was acknowledged is there, once, and none was refused."""
    cluster = make(3, "--restart")
    cluster.andiron("topic", "create", "orders", "--partitions", 6, "--replication-factor", 3)
    stop, sent, problems = threading.Event(), [0], []

    def write() -> None:
        try:
            with Client(cluster.bootstrap) as client:
                while not stop.is_set():
                    with Producer(client) as producer:
                        for _ in range(10):
                            producer.send("orders", str(sent[0]).encode())
                            sent[0] += 1
                    time.sleep(0.02)
        except Exception as error:
            problems.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for node in (1, 2, 3):
            cluster.wait_until_well(3)
            before = cluster.node_pids()[node]
            os.kill(before, signal.SIGTERM)
            until(lambda node=node, before=before: cluster.node_pids().get(node, before) != before)
        cluster.wait_until_well(3)
    finally:
        stop.set()
        writer.join(120)

    assert not problems
    assert cluster.values("orders") == list(range(sent[0]))


def test_a_lost_majority_comes_back_with_the_metadata_of_the_one_that_is_left(
    make: Callable[..., Operated],
) -> None:
    cluster = make(3)
    cluster.fill("orders")
    cluster.wait_until_well(3)
    cluster.stop()
    for node in (2, 3):
        shutil.rmtree(cluster.folder_of(node) / "data")
        kept = cluster.folder_of(1) / "data" / "__cluster_metadata-0"
        shutil.copytree(kept, cluster.folder_of(node) / "data" / "__cluster_metadata-0")
    cluster.start()
    cluster.wait_until_well(3)

    assert cluster.values("orders") == list(range(RECORDS))


def test_a_leader_that_is_not_in_sync_is_elected_only_when_asked(make: Callable[..., Operated]) -> None:
    """Replicas on two brokers that do not vote, so that holding them leaves the quorum alone."""
    cluster = make(5, broker_session_timeout_ms="3000")
    cluster.andiron("topic", "create", "t", "--replication-factor", 1, "--config", "min.insync.replicas=1")
    plan = '{"partitions": [{"topic": "t", "partition": 0, "replicas": [4, 5]}]}'
    cluster.andiron("cluster", "reassign", "--plan", "-", "--execute", "--wait", stdin=plan)
    cluster.andiron("cluster", "elect", "--topic", "t")
    pids = cluster.node_pids()

    def partition() -> Partition:
        with Client(cluster.bootstrap) as client:
            return client.topic("t").partitions[0]

    assert partition().leader == 4
    os.kill(pids[5], signal.SIGSTOP)
    until(lambda: partition().isr == [4])
    cluster.andiron("produce", "t", stdin="lost\n")
    os.kill(pids[4], signal.SIGSTOP)
    os.kill(pids[5], signal.SIGCONT)
    until(lambda: partition().leader == NO_LEADER)
    until(lambda: cluster.described()["brokers"][4]["state"] == "alive")

    assert "could not be given a leader" in cluster.andiron("cluster", "elect", "--topic", "t", fails=1)
    assert cluster.andiron("cluster", "elect", "--topic", "t", "--unclean", "--yes") == "elected: t:0\n"
    until(lambda: partition().leader == 5)
    cluster.andiron("produce", "t", stdin="kept\n")
    os.kill(pids[4], signal.SIGCONT)
    until(lambda: sorted(partition().isr) == [4, 5])
    assert cluster.andiron("consume", "t").split() == ["kept"]
