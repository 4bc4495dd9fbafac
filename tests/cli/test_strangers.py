"""Who does not belong, and what cannot be: each is told why in a line, and the cluster is none the worse for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from andiron.broker.settings.property_file import parse_properties
from andiron.cli.local_cluster.layout import render
from cli.conftest import command
from cli.test_cluster_operations import RECORDS, Operated, until
from peers.ports import free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    """Three nodes for all tests of this file."""
    with Operated(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.fill("orders")
        yield cluster


@pytest.fixture(autouse=True)
def unharmed(cluster: Operated) -> Iterator[None]:
    """Whatever was tried, all is there afterwards, and everyone."""
    yield
    cluster.wait_until_well(3)
    assert cluster.values("orders") == list(range(RECORDS))


def stranger(cluster: Operated, folder: Path, like: int, *options: str, **changed: str) -> str:
    """One more process with the settings of a node, in a folder and on ports of its own; what it said last."""
    settings = parse_properties((cluster.folder_of(like) / "server.properties").read_text())
    listeners = f"PLAINTEXT://localhost:{free_port()},CONTROLLER://localhost:{free_port()}"
    settings |= {"listeners": listeners, "log.dirs": str(folder / "data")}
    settings |= {"initial.broker.registration.timeout.ms": "1500"}
    settings |= {name.replace("_", "."): value for name, value in changed.items()}
    del settings["advertised.listeners"], settings["metrics.listener"]
    config = folder / "server.properties"
    config.write_text(render(settings))
    done = subprocess.run(
        command("up", "--config", config, *options), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("node", [1, 2, 3])  # one of them leads the quorum
def test_a_second_process_of_a_nodes_id(cluster: Operated, tmp_path: Path, node: int) -> None:
    said = stranger(cluster, tmp_path, node, "--cluster-id", cluster.described()["id"])

    assert f"another process as node {node}" in said
    assert said.endswith("stop it, or give this one a node.id of its own")


@pytest.mark.parametrize("roles", ["broker,controller", "broker"])
def test_a_node_of_another_cluster(cluster: Operated, tmp_path: Path, roles: str) -> None:
    changed = {"process_roles": roles}
    if roles == "broker":
        changed |= {"node_id": "7", "listeners": f"PLAINTEXT://localhost:{free_port()}"}

    said = stranger(cluster, tmp_path, 1, "--cluster-id", "aOn33Wh5RXuw7gRvK0a5Lg", **changed)

    assert "the controllers are of another cluster" in said
    assert "--cluster-id" in said


def test_a_node_that_does_not_say_of_which_cluster_it_is(cluster: Operated, tmp_path: Path) -> None:
    said = stranger(cluster, tmp_path, 1)

    assert f"andiron up --config {tmp_path}/server.properties --cluster-id ID" in said
    assert not (tmp_path / "data").exists()


def test_a_folder_of_another_node(cluster: Operated, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    shutil.copy(cluster.folder_of(1) / "data" / "meta.properties", tmp_path / "data")

    assert "node 1" in stranger(cluster, tmp_path, 2)


def test_more_replicas_than_brokers(cluster: Operated) -> None:
    said = cluster.andiron("topic", "create", "many", "--replication-factor", 4, fails=1)

    assert (
        said
        == "andiron: topic 'many': a partition was to have 4 replicas, and only 3 brokers are registered\n"
    )
    assert "many" not in cluster.andiron("topic", "list").split()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--brokers", "1,9"], "broker 9 is not in the cluster"),
        (["--replication-factor", "4"], "only 3 brokers are left for them"),
    ],
)
def test_a_reassignment_that_cannot_be(cluster: Operated, options: list[str], told: str) -> None:
    assert told in cluster.andiron("cluster", "reassign", "--topic", "orders", *options, "--execute", fails=1)
    assert json.loads(cluster.andiron("cluster", "reassign", "--status", "--json")) == []


def test_a_quorum_that_is_lost_and_found(cluster: Operated) -> None:
    held = list(cluster.node_pids().values())[:2]
    for pid in held:
        os.kill(pid, signal.SIGSTOP)
    try:
        one = f"localhost:{cluster.port + 2}"  # which may have led, and then leads on until it misses the others

        def said() -> str:
            asked = command("cluster", "quorum", "-b", one)
            return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60).stderr

        until(lambda: "the quorum has no leader: more than half of its voters must run" in said())
        listed = subprocess.run(
            command("group", "list", "--json", "-b", one),
            capture_output=True,
            text=True,
            check=True,
            timeout=30,  # which the first of the frozen ones alone would take, were it waited for
        )
        assert listed.stderr.count("no answer from broker") == len(held)
    finally:
        for pid in held:
            os.kill(pid, signal.SIGCONT)
    until(lambda: cluster.described()["controller"] is not None)


def test_voters_without_metadata_do_not_outvote_the_one_that_has_it(cluster: Operated) -> None:
    cluster.stop()
    aside = cluster.data / ".aside"
    for node in (2, 3):
        shutil.move(cluster.folder_of(node) / "data", aside / str(node) / "data")
    done = subprocess.run(cluster.command(), capture_output=True, text=True, check=False, timeout=60)
    for node in (2, 3):
        shutil.move(aside / str(node) / "data", cluster.folder_of(node) / "data")
    cluster.start()

    assert done.stderr.startswith("andiron: nodes 2 and 3 have lost their metadata, and would outvote node 1")
