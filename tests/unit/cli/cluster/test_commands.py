"""Elections, and brokers struck from the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from andiron.model.errors import ErrorCode
from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster


@pytest.fixture
def cluster(scripted: ScriptedCluster) -> ScriptedCluster:
    for row in scripted.place("t", [1, 2], [2, 1], [2, 1])[:2]:
        row.leader_id = 1
    return scripted


def test_partitions_go_back_to_the_leader_they_prefer(cluster: ScriptedCluster, run: Run) -> None:
    assert run("elect").stdout == "elected: t:1\n"
    assert run("elect").stderr == "nothing to do: all have the leader they prefer\n"
    assert [request.topic_partitions for request in cluster.requests("ElectLeaders")] == [None, None]


def test_some_partitions_can_be_named(cluster: ScriptedCluster, run: Run) -> None:
    run("elect", "--topic", "t:0-1")

    (request,) = cluster.requests("ElectLeaders")
    assert [(each.topic, each.partitions) for each in request.topic_partitions] == [("t", [0, 1])]


def test_an_unclean_election_is_asked_about(cluster: ScriptedCluster, run: Run) -> None:
    asked = run("elect", "--unclean", stdin="n\n", fails=1).stderr
    assert "every partition that has no leader? Records may be lost." in asked
    assert not cluster.requests("ElectLeaders")

    run("elect", "--unclean", "--yes", "--topic", "t:1")
    assert cluster.requests("ElectLeaders")[0].election_type == 1


def test_a_refusal_is_told(cluster: ScriptedCluster, run: Run) -> None:
    cluster.refusal = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    result = run("elect", "--topic", "t:1", fails=1)

    assert result.stderr.splitlines() == [
        "  t-1: the preferred leader is not available",
        "andiron: 1 of 1 partition could not be given a leader",
    ]


def test_a_broker_is_struck_when_it_is_down_and_empty(cluster: ScriptedCluster, run: Run) -> None:
    assert "is alive" in run("unregister", 3, fails=1).stderr
    cluster.fenced = {2, 3}
    assert "`andiron cluster drain 2` first" in run("unregister", 2, fails=1).stderr
    assert "Strike broker 3" in run("unregister", 3, stdin="n\n", fails=1).stderr
    assert not cluster.requests("UnregisterBroker")

    assert run("unregister", 3, "--yes").stdout == "broker 3 is struck\n"
    assert cluster.requests("UnregisterBroker")[0].broker_id == 3
    assert json.loads(run("unregister", 3, "--yes", "--json").stdout) == {"unregistered": 3}


def test_a_new_id_is_another_each_time(run: Run) -> None:
    ids = {run("new-id").stdout.strip() for _ in range(3)}

    assert len(ids) == 3
    assert {len(each) for each in ids} == {22}


REFUSED = {"topic": "t", "partition": 1, "error": "PREFERRED_LEADER_NOT_AVAILABLE"}
MOVES = [
    {"topic": "t", "partition": at, "before": before, "after": after}
    for at, (before, after) in enumerate([([1, 2], [3, 2]), ([2, 1], [2, 3]), ([2, 1], [2, 3])])
]


@pytest.mark.parametrize(
    ("arguments", "done"),
    [
        (["elect"], {"elected": [{"topic": "t", "partition": 1}], "refused": []}),
        (["drain", "1", "--yes"], {"broker": 1, "moves": MOVES, "state": "done"}),
        (["drain", "1", "--dry-run"], {"broker": 1, "moves": MOVES, "state": "planned"}),
        (["drain", "1", "--no-wait", "--yes"], {"broker": 1, "moves": MOVES, "state": "begun"}),
        (["drain", "3", "--yes"], {"broker": 3, "moves": [], "state": "done"}),
        (
            ["drain", "1", "--leaders-only", "--yes"],
            {
                "broker": 1,
                "others_lead": [{"topic": "t", "partition": at} for at in (0, 1)],
                "stuck": [],
                "state": "done",
            },
        ),
        (
            ["reassign", "--topic", "t:0", "--brokers", "2,3", "--execute"],
            {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [2, 3]}]},
        ),
        (["reassign", "--cancel", "--yes"], {"called_off": [], "refused": []}),
        (["quorum", "add-voter", "3", "--address", "c:1"], {"node": 3, "votes": True, "voters": [1, 2, 3]}),
        (["quorum", "remove-voter", "2", "--yes"], {"node": 2, "votes": False, "voters": [1]}),
    ],
)
def test_what_was_changed_is_one_document_for_programs(
    cluster: ScriptedCluster, run: Run, arguments: list[str], done: dict[str, Any]
) -> None:
    assert json.loads(run(*arguments, "--json").stdout) == done


def test_refusals_are_in_the_document_too(cluster: ScriptedCluster, run: Run) -> None:
    cluster.refusal = ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    told = json.loads(run("elect", "--topic", "t:1", "--json", fails=1).stdout)

    assert [{name: each[name] for name in REFUSED} for each in told["refused"]] == [REFUSED]
