"""`andiron cluster` against three brokers.

With `ANDIRON_TEST_PEER=kafka` they are Apache Kafka's, and what is shown is compared with what Kafka's own tools
show. Otherwise they are ours, where a node serves several voters.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import PEER, Run, command
from peers import jars, tooling
from peers.kafka_cluster import KafkaCluster
from peers.node_cluster import NodeCluster

QUORUM_TOOL = "kafka-metadata-quorum"
REASSIGN_TOOL = "kafka-reassign-partitions"
KAFKA = PEER == "kafka"

pytestmark = pytest.mark.slow
only_kafka = pytest.mark.skipif(not KAFKA, reason="told by Kafka alone")


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster | NodeCluster]:
    """Three brokers for all tests of this file."""
    folder = tmp_path_factory.mktemp("cluster")
    try:
        cluster = (
            KafkaCluster(folder, dynamic=True, racks={1: "a", 2: "b", 3: "c"})
            if KAFKA
            else NodeCluster(folder)
        )
    except jars.Missing as why:
        pytest.skip(str(why))
    with cluster:
        yield cluster


@pytest.fixture
def run(brokers: KafkaCluster | NodeCluster) -> Run:
    """Run a command to its end; it must succeed unless `fails` is told."""

    def run_command(*arguments: object, stdin: str = "", fails: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ANDIRON_BOOTSTRAP": brokers.bootstrap}
        done = subprocess.run(
            command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
            timeout=120,
        )
        assert done.returncode == fails, done
        assert "Traceback" not in done.stderr
        return done

    return run_command


@pytest.fixture
def topic(topic: str, run: Run) -> Iterator[str]:
    """A topic that is gone afterwards: the cluster is shared, and what it leads and holds is counted."""
    yield topic
    if topic in run("topic", "list").stdout.split():
        run("topic", "delete", topic, "--yes")


def told(run: Run, *arguments: object) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def partitions(run: Run, topic: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = told(run, "topic", "describe", topic)["partitions"]
    return found


def eventually(holds: Callable[[], object], timeout_s: float = 60) -> None:
    until = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_brokers_are_described_with_what_they_have(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 3, "--replication-factor", 3)
    eventually(lambda: told(run, "cluster", "describe")["partitions"]["under_replicated"] == 0)
    cluster = told(run, "cluster", "describe")

    assert [each["id"] for each in cluster["brokers"]] == [1, 2, 3]
    assert {each["state"] for each in cluster["brokers"]} == {"alive"}
    assert all(each["replicas"] >= 3 for each in cluster["brokers"])
    assert sum(each["leads"] for each in cluster["brokers"]) == cluster["partitions"]["total"]
    assert cluster["controller"] in (1, 2, 3)
    assert cluster["unwell"] == []
    assert "all in sync" in run("cluster", "describe").stdout


def test_the_quorum_has_three_voters(run: Run) -> None:
    quorum = told(run, "cluster", "quorum")

    assert [each["id"] for each in quorum["voters"]] == [1, 2, 3]
    assert quorum["leader"] == told(run, "cluster", "describe")["controller"]
    assert quorum["high_watermark"] > 0
    assert "of which 1 may fail" in run("cluster", "quorum").stdout


@pytest.mark.java
def test_the_quorum_is_what_kafkas_tool_says_it_is(run: Run, brokers: KafkaCluster | NodeCluster) -> None:
    status = _facts(tooling.run(QUORUM_TOOL, brokers.bootstrap, "describe", "--status"))
    rows = [
        line.split()
        for line in tooling.run(QUORUM_TOOL, brokers.bootstrap, "describe", "--replication").splitlines()
    ]
    quorum = told(run, "cluster", "quorum")

    assert (str(quorum["leader"]), str(quorum["epoch"])) == (status["LeaderId"], status["LeaderEpoch"])
    assert status["ClusterId"] == told(run, "cluster", "describe")["id"]
    directories = {row[0]: row[1] for row in rows[1:] if row}
    assert directories.keys() == {str(each["id"]) for each in quorum["voters"]}
    if KAFKA:
        assert directories == {str(each["id"]): each["directory"] for each in quorum["voters"]}


def _facts(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def test_replicas_are_moved_and_moved_back(run: Run, topic: str, tmp_path: Path) -> None:
    run(
        "topic",
        "create",
        topic,
        "--partitions",
        4,
        "--replication-factor",
        2,
        "--config",
        "min.insync.replicas=1",
    )
    run("produce", topic, stdin="".join(f"{number}\n" for number in range(1000)))
    before = [each["replicas"] for each in partitions(run, topic)]
    undo = tmp_path / "undo.json"

    shown = run("cluster", "reassign", "--topic", topic, "--brokers", "1,2")
    assert "nothing is moved yet" in shown.stderr
    assert [each["replicas"] for each in partitions(run, topic)] == before

    run("cluster", "reassign", "--topic", topic, "--brokers", "1,2", "--execute", "--wait", "--undo", undo)
    assert {frozenset(each["replicas"]) for each in partitions(run, topic)} == {frozenset({1, 2})}
    assert len(run("consume", topic).stdout.split()) == 1000

    run("cluster", "reassign", "--plan", undo, "--execute", "--wait")
    assert [each["replicas"] for each in partitions(run, topic)] == before
    state = told(run, "cluster", "reassign", "--status", "--plan", undo)
    assert {each["state"] for each in state} == {"done"}


@pytest.mark.java
def test_a_plan_is_one_that_kafkas_tool_takes(
    run: Run, topic: str, tmp_path: Path, brokers: KafkaCluster | NodeCluster
) -> None:
    run("topic", "create", topic, "--partitions", 2, "--replication-factor", 1)
    plan = tmp_path / "plan.json"
    plan.write_text(run("cluster", "reassign", "--topic", topic, "--replication-factor", 3, "--json").stdout)

    files = ["--reassignment-json-file", str(plan)]
    said = tooling.run(REASSIGN_TOOL, brokers.bootstrap, *files, "--execute")
    assert "Successfully started" in said
    eventually(
        lambda: (
            {each["state"] for each in told(run, "cluster", "reassign", "--status", "--plan", plan)}
            == {"done"}
        )
    )


def test_more_copies_are_made_and_fewer_kept(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 2, "--replication-factor", 1)
    for factor in (3, 2):
        run("cluster", "reassign", "--topic", topic, "--replication-factor", factor, "--execute", "--wait")
        assert {len(each["replicas"]) for each in partitions(run, topic)} == {factor}


def test_a_throttle_slows_a_move_which_is_called_off(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--replication-factor", 1)
    run("produce", topic, stdin="".join(f"{'x' * 1000}\n" for _ in range(20_000)))
    (before,) = (each["replicas"] for each in partitions(run, topic))
    others = ",".join(str(each) for each in (1, 2, 3) if each not in before)

    there = run("config", "get", "topic", topic, "--all").stdout
    if "replication.throttled.replicas" not in there:
        pytest.skip("these brokers have no throttle for replicas")
    run("cluster", "reassign", "--topic", topic, "--brokers", others, "--execute", "--throttle", "1000")
    assert run("cluster", "reassign", "--status").stderr == "1 partition under way\n"
    assert "throttled" in run("config", "get", "topic", topic).stdout
    assert run("cluster", "reassign", "--cancel", "--yes").stdout == "called off: 1 partition as before\n"
    run("cluster", "reassign", "--verify", "--topic", topic)

    eventually(lambda: [each["replicas"] for each in partitions(run, topic)] == [before])
    assert "throttled" not in run("config", "get", "topic", topic).stdout
    assert "throttled" not in run("config", "get", "broker", before[0]).stdout


def test_leadership_leaves_a_broker_and_comes_back(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 6, "--replication-factor", 3)
    run("cluster", "drain", 1, "--leaders-only", "--yes")
    assert 1 not in {each["leader"] for each in partitions(run, topic)}

    run("cluster", "reassign", "--topic", topic, "--execute", "--wait")
    run("cluster", "elect", "--topic", topic)
    assert {each["leader"] for each in partitions(run, topic)} == {1, 2, 3}
    assert "nothing to do" in run("cluster", "elect", "--topic", topic).stderr


def test_a_broker_cannot_be_emptied_where_all_are_needed(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--replication-factor", 3)

    said = run("cluster", "drain", 2, "--yes", fails=1).stderr
    assert "3 replicas of each partition, and only 2 brokers are left" in said
    assert said.count("\n") == 1
    run("topic", "delete", topic, "--yes")


def test_refusals_are_one_line(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--replication-factor", 1)
    for arguments in (
        ["drain", 9],
        ["unregister", 1, "--yes"],
        ["reassign", "--topic", "no-such-topic"],
        ["reassign", "--topic", topic, "--brokers", "7"],
        ["elect", "--topic", "no-such-topic"],
        ["quorum", "add-voter", 1, "--address", "localhost:1"],
        ["quorum", "remove-voter", 9, "--yes"],
    ):
        assert run("cluster", *arguments, fails=1).stderr.count("\n") == 1, arguments


@only_kafka
def test_a_voter_leaves_and_comes_back(run: Run, brokers: KafkaCluster) -> None:
    quorum = told(run, "cluster", "quorum")
    other = next(each["id"] for each in quorum["voters"] if each["id"] != quorum["leader"])

    assert "votes no more" in run("cluster", "quorum", "remove-voter", other, "--yes").stdout
    eventually(lambda: other in [each["id"] for each in told(run, "cluster", "quorum")["observers"]])
    at = f"127.0.0.1:{brokers.nodes[other].controller_port}"
    run("cluster", "quorum", "add-voter", other, "--address", at)
    assert [each["id"] for each in told(run, "cluster", "quorum")["voters"]] == [1, 2, 3]


def test_a_broker_that_dies_is_fenced_and_its_partitions_are_named(
    run: Run, topic: str, brokers: KafkaCluster | NodeCluster
) -> None:
    """Last in this file: the broker stays away."""
    run("topic", "create", topic, "--partitions", 3, "--replication-factor", 3)
    lonely = f"{topic}-alone"
    run("topic", "create", lonely, "--partitions", 3, "--replication-factor", 1)
    if isinstance(brokers, NodeCluster):
        brokers.kill_node(3)
    else:
        brokers.nodes[3].kill()

    eventually(lambda: told(run, "cluster", "describe")["brokers"][2]["state"] == "fenced")
    cluster = told(run, "cluster", "describe")
    assert cluster["partitions"]["under_replicated"] >= 3
    assert cluster["partitions"]["offline"] >= 1
    assert "no leader" in run("cluster", "describe").stdout
    assert "has replicas of" in run("cluster", "unregister", 3, "--yes", fails=1).stderr
