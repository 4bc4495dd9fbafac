"""Moves that are under way, shown and called off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.wire.apis import ApiKey
from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster

PLAN = '{"partitions":[{"topic":"t","partition":0,"replicas":[2,3]},{"topic":"t","partition":1,"replicas":[3,1]}]}'


@pytest.fixture
def cluster(scripted: ScriptedCluster, run: Run) -> ScriptedCluster:
    """Partition 0 is under way; partition 1 has not begun."""
    scripted.place("t", [1, 2], [2, 1])
    scripted.slow = True
    scripted.under_way["t", 0] = ([1, 2], [2, 3])
    return scripted


def test_what_is_under_way_is_shown(cluster: ScriptedCluster, run: Run) -> None:
    result = run("reassign", "--status")

    assert result.stdout.splitlines()[0].split() == [
        "TOPIC",
        "PARTITION",
        "STATE",
        "REPLICAS",
        "ADDING",
        "REMOVING",
        "COPIED",
    ]
    assert result.stdout.splitlines()[1].split()[:-1] == ["t", "0", "under", "way", "2,3,1", "3", "1"]
    assert result.stderr == "1 partition under way\n"


def test_what_cannot_be_known_or_is_not_copied_is_not_said_to_be_copied(
    cluster: ScriptedCluster, run: Run
) -> None:
    cluster.under_way["t", 1] = ([2, 1], [1])  # a replica less, and none to copy
    assert run("reassign", "--status").stdout.splitlines()[2].split()[-1] == "-"

    del cluster.versions[ApiKey.DESCRIBE_LOG_DIRS]
    assert run("reassign", "--status").stdout.splitlines()[1].split()[-1] == "-"
    told = json.loads(run("reassign", "--status", "--json").stdout)
    assert (told[0]["copied_bytes"], told[0]["total_bytes"]) == (None, None)


def test_beside_a_plan_the_others_are_told_too(cluster: ScriptedCluster, run: Run, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(PLAN)
    told = json.loads(run("reassign", "--status", "--plan", tmp_path / "plan", "--json").stdout)
    assert [each["state"] for each in told] == ["under way", "not begun"]

    cluster.finish()
    told = json.loads(run("reassign", "--status", "--plan", tmp_path / "plan", "--json").stdout)
    assert [each["state"] for each in told] == ["done", "not begun"]


def test_verify_takes_throttles_away_and_not_too_soon(cluster: ScriptedCluster, run: Run) -> None:
    cluster.configs = {
        (2, "t"): {"leader.replication.throttled.replicas": "0:1"},
        (4, "2"): {"leader.replication.throttled.rate": "5"},
    }
    run("reassign", "--verify")
    assert all(cluster.configs.values())

    cluster.finish()
    run("reassign", "--status")
    assert all(cluster.configs.values())
    assert run("reassign", "--verify", "--topic", "t").stderr == "nothing is under way\n"
    assert not any(cluster.configs.values())


def test_what_is_under_way_is_called_off_after_a_question(cluster: ScriptedCluster, run: Run) -> None:
    assert "Call off the moves of t:0?" in run("reassign", "--cancel", stdin="n\n", fails=1).stderr
    assert cluster.under_way

    assert run("reassign", "--cancel", "--yes").stdout == "called off: 1 partition as before\n"
    assert not cluster.under_way
    assert "nothing to call off" in run("reassign", "--cancel").stderr
