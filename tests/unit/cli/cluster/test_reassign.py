"""Replicas moved by topics and brokers, or by a plan; nothing without --execute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster


@pytest.fixture
def cluster(scripted: ScriptedCluster) -> ScriptedCluster:
    scripted.place("t", [1, 2], [2, 1], [1, 2])
    return scripted


def test_it_is_only_shown_at_first(cluster: ScriptedCluster, run: Run) -> None:
    result = run("reassign", "--topic", "t")

    assert result.stdout.startswith("TOPIC  PARTITION  NOW  AFTER  COPY TO  DROP FROM\n")
    assert "2 replicas to copy; nothing is moved yet: --execute does it" in result.stderr
    assert not cluster.requests("AlterPartitionReassignments")


def test_executed_it_is_followed_to_the_end(cluster: ScriptedCluster, run: Run) -> None:
    result = run("reassign", "--topic", "t", "--execute", "--wait", "--throttle", "1MB")

    assert "done: " in result.stdout
    loads = [each for replicas in cluster.replicas("t") for each in replicas]
    assert sorted(map(loads.count, (1, 2, 3))) == [2, 2, 2]
    assert not any(cluster.configs.values()), "the throttle is gone"


def test_without_waiting_it_is_told_how_to_go_on(cluster: ScriptedCluster, run: Run) -> None:
    cluster.slow = True
    result = run("reassign", "--topic", "t", "--execute", "--throttle", "1MB")

    assert result.stdout.splitlines()[-1].startswith("begun: ")
    assert "--status" in result.stderr
    assert "--verify takes the throttle away" in result.stderr
    assert any(cluster.configs.values())


def test_a_plan_goes_out_and_comes_in(cluster: ScriptedCluster, run: Run, tmp_path: Path) -> None:
    plan, undo = tmp_path / "plan.json", tmp_path / "undo.json"
    plan.write_text(run("reassign", "--topic", "t:0", "--brokers", "2,3", "--json").stdout)
    assert json.loads(plan.read_text())["partitions"] == [{"topic": "t", "partition": 0, "replicas": [2, 3]}]

    run("reassign", "--plan", plan, "--execute", "--wait", "--undo", undo)
    assert cluster.replicas("t")[0] == [2, 3]
    run("reassign", "--plan", undo, "--execute", "--wait")
    assert cluster.replicas("t")[0] == [1, 2]


def test_a_plan_can_come_from_a_pipe(cluster: ScriptedCluster, run: Run) -> None:
    plan = '{"partitions":[{"topic":"t","partition":1,"replicas":[3]}]}'
    run("reassign", "--plan", "-", "--execute", "--wait", stdin=plan)

    assert cluster.replicas("t")[1] == [3]


def test_what_is_spread_already_needs_nothing(cluster: ScriptedCluster, run: Run) -> None:
    cluster.place("t", [1, 2], [2, 3], [3, 1])

    assert "nothing to move" in run("reassign", "--topic", "t", "--execute").stderr
    assert not cluster.requests("AlterPartitionReassignments")


def test_more_copies_can_be_asked_for(cluster: ScriptedCluster, run: Run) -> None:
    run("reassign", "--topic", "t", "--replication-factor", 3, "--execute", "--wait")

    assert {len(each) for each in cluster.replicas("t")} == {3}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--topic", "t", "--brokers", "1"], "only 1 brokers are left"),
        (["--topic", "t", "--brokers", "1,9"], "broker 9 is not in the cluster; alive are 1, 2"),
        (["--topic", "t", "--brokers", "1,3"], "broker 3 is fenced"),
        (["--topic", "nope"], "there is no topic 'nope'"),
        (["--plan", "-"], "not JSON"),
        (["--plan", "/no/such"], "/no/such"),
    ],
)
def test_what_cannot_be_is_one_line(
    cluster: ScriptedCluster, run: Run, arguments: list[str], complaint: str
) -> None:
    cluster.fenced = {3}
    result = run("reassign", *arguments, fails=1)

    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--execute", "--status"],
        ["--status", "--cancel"],
        ["--plan", "f", "--topic", "t"],
        ["--topic", "t", "--wait"],
        ["--topic", "t", "--throttle", "1MB"],
        ["--topic", "t", "--brokers", "one"],
    ],
)
def test_what_does_not_go_together_is_wrong_usage(run: Run, arguments: list[str]) -> None:
    run("reassign", *arguments, fails=2)
