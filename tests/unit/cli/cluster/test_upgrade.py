"""Features raised to what the nodes know."""

from __future__ import annotations

import json

import pytest

from andiron.model.errors import ErrorCode
from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster


def asked(scripted: ScriptedCluster) -> list[tuple[list[str], bool]]:
    return [
        ([each.feature for each in request.feature_updates], request.validate_only)
        for request in scripted.requests("UpdateFeatures")
    ]


def test_all_that_is_behind_is_raised_and_the_quorums_level_by_itself(
    scripted: ScriptedCluster, run: Run
) -> None:
    said = run("upgrade", "--yes").stdout

    assert scripted.levels == scripted.newest
    assert asked(scripted) == [
        (["metadata.version"], True), (["kraft.version"], True),
        (["metadata.version"], False), (["kraft.version"], False),
    ]  # fmt: skip
    assert [line.split() for line in said.splitlines()] == [
        ["FEATURE", "WAS", "IS"], ["kraft.version", "0", "1"], ["metadata.version", "29", "30"],
    ]  # fmt: skip


def test_a_dry_run_raises_nothing(scripted: ScriptedCluster, run: Run) -> None:
    told = json.loads(run("upgrade", "--dry-run", "--json").stdout)

    assert all(is_dry for _, is_dry in asked(scripted))
    assert told["raised"] == []
    assert {"feature": "kraft.version", "level": 0, "newest": 1} in told["features"]


def test_it_asks_first(scripted: ScriptedCluster, run: Run) -> None:
    said = run("upgrade", stdin="n\n", fails=1).stderr

    assert "metadata.version from 29 to 30? There is no way back" in said
    assert scripted.levels["metadata.version"] == 29


def test_a_cluster_that_is_there_has_nothing_to_do(scripted: ScriptedCluster, run: Run) -> None:
    scripted.levels = dict(scripted.newest)

    assert "nothing to do" in run("upgrade").stderr
    assert asked(scripted) == []


def test_what_a_node_does_not_know_is_told_and_nothing_is_raised(scripted: ScriptedCluster, run: Run) -> None:
    scripted.refusal = ErrorCode.INVALID_UPDATE_VERSION

    assert "broker 2 does not know it" in run("upgrade", "--yes", fails=1).stderr
    assert scripted.levels["kraft.version"] == 0


@pytest.mark.parametrize("is_served", [True, False])
def test_what_is_known_and_not_served_is_raised_by_kafka_alone(
    scripted: ScriptedCluster, run: Run, is_served: bool
) -> None:
    scripted.levels = dict(scripted.newest)
    scripted.newest["share.version"] = 1
    scripted.refusal = ErrorCode.NONE if is_served else ErrorCode.INVALID_UPDATE_VERSION

    run("upgrade", "--yes")

    assert scripted.levels.get("share.version", 0) == int(is_served)
