"""`andiron up --brokers`: a cluster on one machine, from its start to its end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import command
from peers.ports import A_CLUSTER, free_port

Start = Callable[..., "Cluster"]
LAST_LINE = "Ctrl-C stops it.\n"
TIMEOUT_S = 60


class Cluster:
    """A parent, and what it said."""

    def __init__(self, folder: Path, port: int, *options: object) -> None:
        self.folder, self.port = folder, port
        self.errors = folder.parent / f"stderr-{port}-{time.monotonic_ns()}"
        with open(self.errors, "wb") as err:
            self.process = subprocess.Popen(
                command("up", "--data", folder, "--port", port, *options),
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
            )
        assert self.process.stdout is not None
        self.said: list[str] = []
        for line in self.process.stdout:
            self.said.append(line)
            if line == LAST_LINE:
                return
        self.process.wait(TIMEOUT_S)
        raise AssertionError(f"it did not start: {self.said} {self.err()}")

    def err(self) -> str:
        return self.errors.read_text()

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_S * 3)

    def pids(self) -> list[int]:
        """The children that are alive."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(each) for each in listed.split()]

    def andiron(self, *arguments: object, stdin: str = "") -> str:
        done = subprocess.run(
            command(*arguments, "-b", f"localhost:{self.port}"),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 0, done
        return done.stdout

    def describe(self) -> Any:
        return json.loads(self.andiron("cluster", "describe", "--json"))


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    started: list[Cluster] = []

    def start_one(*options: object, port: int | None = None) -> Cluster:
        started.append(Cluster(folder / "cluster", port or free_port(A_CLUSTER), *options))
        return started[-1]

    yield start_one
    for each in started:
        with contextlib.suppress(subprocess.TimeoutExpired):
            each.process.terminate()
            each.process.wait(TIMEOUT_S)
        each.process.kill()
        each.process.communicate()


def refused(*options: object) -> str:
    done = subprocess.run(
        command("up", *options), capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    return done.stderr


def gone(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def until(holds: Callable[[], object], timeout_s: float = TIMEOUT_S) -> None:
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


# ── a cluster of one node ────────────────────────────────────────────────────────────


def test_a_cluster_of_one_is_written_to_and_comes_back(start: Start) -> None:
    first = start("--brokers", 1)
    first.andiron("produce", "kept", stdin="hello\n")
    assert f"serves localhost:{first.port}" in first.said[0]
    assert first.stop() == 0
    assert first.err().splitlines()[-1] == "andiron: stopped; everything is on the disk"

    again = start("--brokers", 1, port=first.port)
    assert again.andiron("consume", "kept").split() == ["hello"]
    assert "node 1 serves" in (again.folder / "node-1" / "andiron.log").read_text()


def test_a_node_ends_in_order_when_its_parent_is_killed(start: Start) -> None:
    cluster = start("--brokers", 1)
    (pid,) = cluster.pids()
    cluster.process.kill()

    until(lambda: gone(pid))
    assert (cluster.folder / "node-1/data/.kafka_cleanshutdown").exists()


def test_a_node_that_dies_is_reported_and_the_cluster_ends_with_it(start: Start) -> None:
    cluster = start("--brokers", 1)
    os.kill(cluster.pids()[0], signal.SIGKILL)

    assert cluster.process.wait(TIMEOUT_S) == 1
    assert "node 1 ended with SIGKILL; its last lines" in cluster.err()


def test_a_node_that_dies_is_started_again_if_asked(start: Start) -> None:
    cluster = start("--brokers", 1, "--restart")
    os.kill(cluster.pids()[0], signal.SIGKILL)

    until(lambda: "node 1 is started again" in cluster.err())
    until(lambda: cluster.err().rstrip().endswith("● 1 · controller 1 · 0 partitions"))
    assert cluster.stop(signal.SIGTERM) == 0


def test_a_port_in_use_is_told_in_one_line(folder: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("--brokers", 1, "--data", folder / "cluster", "--port", port)

    assert re.search(rf"^andiron: node 1 did not start: .*{port}", said, re.M)


def test_the_records_of_a_node_by_itself_are_left_alone(folder: Path) -> None:
    (folder / "meta.properties").write_text("version=1\n")

    assert "a node by itself" in refused("--brokers", 3, "--data", folder)
    assert [each.name for each in folder.iterdir()] == ["meta.properties"]


def test_a_cluster_is_not_started_as_a_node_by_itself(start: Start) -> None:
    cluster = start("--brokers", 1)
    cluster.stop()

    assert "--brokers" in refused("--data", cluster.folder, "--port", cluster.port)


def test_a_wrong_setting_is_told_before_anything_is_written(folder: Path) -> None:
    assert "log.retention.huors" in refused(
        "--brokers", 1, "--data", folder, "--set", "log.retention.huors=1"
    )
    assert not list(folder.iterdir())


# ── several nodes ────────────────────────────────────────────────────────────────────


def test_three_nodes_replicate_and_bear_the_loss_of_one(start: Start) -> None:
    cluster = start("--brokers", 3)
    cluster.andiron("topic", "create", "orders", "--partitions", 3)
    cluster.andiron("produce", "orders", stdin="one\ntwo\nthree\n")
    told = cluster.describe()
    assert [each["id"] for each in told["brokers"]] == [1, 2, 3]
    assert all(
        len(each["replicas"]) == 3
        for each in json.loads(cluster.andiron("topic", "describe", "orders", "--json"))["partitions"]
    )

    os.kill(cluster.pids()[2], signal.SIGKILL)
    until(lambda: "under-replicated" in cluster.err())
    cluster.andiron("produce", "orders", stdin="four\n")
    assert sorted(cluster.andiron("consume", "orders").split()) == ["four", "one", "three", "two"]


def test_a_node_that_was_killed_catches_up(start: Start) -> None:
    cluster = start("--brokers", 3, "--restart")
    cluster.andiron("topic", "create", "orders", "--partitions", 3)
    os.kill(cluster.pids()[1], signal.SIGKILL)
    until(lambda: "node 2 is started again" in cluster.err())
    cluster.andiron("produce", "orders", stdin="one\n")

    until(lambda: cluster.describe()["partitions"]["under_replicated"] == 0)
    assert cluster.stop() == 0


def test_a_rolling_stop_is_clean_and_all_is_there_again(start: Start) -> None:
    first = start("--brokers", 3)
    first.andiron("topic", "create", "kept", "--partitions", 3)
    first.andiron("produce", "kept", stdin="one\ntwo\n")
    assert first.stop() == 0
    stops = re.findall(r"stopping node (\d)", first.err())
    assert sorted(stops) == ["1", "2", "3"]

    again = start("--brokers", 3, port=first.port)
    assert sorted(again.andiron("consume", "kept").split()) == ["one", "two"]


def test_a_fourth_node_joins_as_a_broker(start: Start) -> None:
    first = start("--brokers", 3)
    first.stop()
    again = start("--brokers", 4, port=first.port)

    assert [each["id"] for each in again.describe()["brokers"]] == [1, 2, 3, 4]
    quorum = json.loads(again.andiron("cluster", "quorum", "--json"))
    assert [each["id"] for each in quorum["voters"]] == [1, 2, 3]


def test_all_nodes_end_when_the_parent_is_killed(start: Start) -> None:
    cluster = start("--brokers", 3)
    pids = cluster.pids()
    cluster.process.kill()

    until(lambda: all(map(gone, pids)))


def test_a_second_signal_kills_all(start: Start) -> None:
    cluster = start("--brokers", 3)
    pids = cluster.pids()
    cluster.process.send_signal(signal.SIGINT)
    until(lambda: "stopping node" in cluster.err())
    cluster.process.send_signal(signal.SIGINT)

    too_late_to_be_impatient = (0, -signal.SIGINT)  # all had stopped, or the parent was just going
    assert cluster.process.wait(TIMEOUT_S) in (1, *too_late_to_be_impatient)
    assert all(map(gone, pids))
