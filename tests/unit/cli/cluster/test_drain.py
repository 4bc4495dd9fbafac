"""A broker is emptied, or others lead in its place."""

from __future__ import annotations

import pytest

from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster


@pytest.fixture
def cluster(scripted: ScriptedCluster) -> ScriptedCluster:
    scripted.place("t", [1, 2], [2, 3], [1, 3])
    return scripted


def test_everything_goes_and_nothing_else_moves(cluster: ScriptedCluster, run: Run) -> None:
    result = run("drain", 1, stdin="y\n")

    assert "Take 2 replicas off broker 1?" in result.stderr
    assert result.stdout.endswith("broker 1 has no replicas any more\n")
    assert [set(each) for each in cluster.replicas("t")] == [{2, 3}, {2, 3}, {2, 3}]


def test_a_throttle_is_gone_in_the_end(cluster: ScriptedCluster, run: Run) -> None:
    run("drain", 1, "--yes", "--throttle", "1MB")

    assert cluster.configs
    assert not any(cluster.configs.values())


def test_it_can_be_left_to_go_on(cluster: ScriptedCluster, run: Run) -> None:
    cluster.slow = True

    assert "begun: 2 partitions to change" in run("drain", 1, "--yes", "--no-wait").stdout
    assert cluster.under_way


@pytest.mark.parametrize("how", [["--dry-run"], ["--dry-run", "--leaders-only"]])
def test_a_dry_run_changes_nothing(cluster: ScriptedCluster, run: Run, how: list[str]) -> None:
    assert "yet" in run("drain", 1, *how).stderr
    assert not cluster.requests("AlterPartitionReassignments")


def test_too_few_brokers_is_told_before_anything_is_moved(cluster: ScriptedCluster, run: Run) -> None:
    cluster.place("wide", [1, 2, 3])
    result = run("drain", 1, "--yes", fails=1)

    assert (
        "wide has 3 replicas of each partition, and only 2 brokers are left for them (2, 3)" in result.stderr
    )
    assert result.stderr.count("\n") == 1
    assert not cluster.requests("AlterPartitionReassignments")


def test_a_broker_that_is_dead_can_be_emptied(cluster: ScriptedCluster, run: Run) -> None:
    cluster.fenced = {3}
    cluster.brokers[4] = None
    run("drain", 3, "--yes")

    assert 3 not in [each for replicas in cluster.replicas("t") for each in replicas]


def test_a_broker_that_nobody_knows_is_one_line(cluster: ScriptedCluster, run: Run) -> None:
    assert run("drain", 9, fails=1).stderr == "andiron: there is no broker 9; the cluster has 1, 2, 3\n"


def test_an_empty_broker_has_nothing_to_lose(cluster: ScriptedCluster, run: Run) -> None:
    cluster.brokers[4] = None

    assert run("drain", 4).stdout == "broker 4 has no replicas\n"
    assert run("drain", 4, "--leaders-only").stdout == "broker 4 leads nothing\n"


def test_others_lead_and_nothing_is_copied(cluster: ScriptedCluster, run: Run) -> None:
    result = run("drain", 1, "--leaders-only", stdin="y\n")

    assert result.stdout.endswith("others lead 2 partitions\n")
    assert [each.leader_id for each in cluster.topics["t"].partitions] == [2, 2, 3]
    assert [set(each) for each in cluster.replicas("t")] == [{1, 2}, {2, 3}, {1, 3}]


def test_a_partition_that_nobody_else_has_is_named(cluster: ScriptedCluster, run: Run) -> None:
    cluster.topics["t"].partitions[2].isr_nodes = [1]
    result = run("drain", 1, "--leaders-only", "--yes", fails=1)

    assert "nobody but broker 1 is in sync for t:2" in result.stderr
    assert cluster.topics["t"].partitions[0].leader_id == 2


def test_leadership_alone_needs_no_throttle(run: Run) -> None:
    run("drain", 1, "--leaders-only", "--throttle", "1MB", fails=2)
