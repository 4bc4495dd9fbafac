"""A cluster in one look, well and unwell."""

from __future__ import annotations

import json

import pytest

from andiron.cli.cluster import report as module
from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import ScriptedCluster


def test_a_cluster_that_is_well(scripted: ScriptedCluster, run: Run) -> None:
    scripted.place("t", [1, 2], [2, 1])

    assert run("describe").stdout == "\n".join(
        [
            "cluster c: 3 brokers, controller 1, 2 partitions, all in sync",
            "",
            "BROKER  ADDRESS         RACK  STATE  LEADS  REPLICAS  IN SYNC",
            "     1  127.0.0.1:9001  a     alive      1         2        2",
            "     2  127.0.0.1:9002  b     alive      1         2        2",
            "     3  127.0.0.1:9003  c     alive      0         0        0",
            "",
        ]
    )
    assert not scripted.requests("DescribeConfigs"), "no topic can be under its minimum"


def test_what_is_wrong_comes_worst_first(scripted: ScriptedCluster, run: Run) -> None:
    rows = scripted.place("t", [1, 2, 3], [1, 2, 3], [3, 1, 2], [1, 2, 3])
    rows[0].isr_nodes = [1, 2]
    rows[1].isr_nodes = [1]
    rows[2].isr_nodes, rows[2].leader_id = [3], -1
    scripted.fenced = {3}
    said = run("describe").stdout

    head = "cluster c: 3 brokers, controller 1, 4 partitions, 1 without a leader, 2 under min.insync.replicas"
    assert said.startswith(f"{head}, 3 under-replicated\n")
    assert "     3  127.0.0.1:9003  c     fenced " in said
    assert said.splitlines()[-3:] == [
        "t              2  none    3,1,2     3    no leader: nobody reads or writes",
        "t              1  1       1,2,3     1    under min.insync.replicas: acks=all is refused",
        "t              0  1       1,2,3     1,2  under-replicated",
    ]


def test_programs_get_all_of_it(scripted: ScriptedCluster, run: Run) -> None:
    scripted.place("t", [1, 2])[0].isr_nodes = [1]
    told = json.loads(run("describe", "--json").stdout)

    assert told["controller"] == 1
    assert told["brokers"][1] == {
        "id": 2,
        "host": "127.0.0.1",
        "port": 9002,
        "rack": "b",
        "state": "alive",
        "leads": 0,
        "replicas": 1,
        "in_sync": 0,
    }
    assert told["partitions"] == {"total": 1, "offline": 0, "under_min_isr": 1, "under_replicated": 1}
    assert [(each["topic"], each["isr"], each["under_min_isr"]) for each in told["unwell"]] == [
        ("t", [1], True)
    ]


def test_a_long_list_is_cut_for_people(
    scripted: ScriptedCluster, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS_SHOWN", 2)
    for row in scripted.place("t", *[[1, 2]] * 5):
        row.isr_nodes = [1]

    assert "… and 3 more" in run("describe").stdout
