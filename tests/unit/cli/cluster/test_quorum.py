"""Voters shown, added and removed."""

from __future__ import annotations

import json

import pytest

from unit.cli.cluster.conftest import Run
from unit.cli.cluster.scripted_cluster import DIRECTORY, ScriptedCluster


def test_the_quorum_is_shown_without_a_further_word(run: Run) -> None:
    assert run("quorum").stdout.startswith("quorum: leader 1, epoch 4, high watermark 99, 2 voters")
    assert [each["id"] for each in json.loads(run("quorum", "--json").stdout)["voters"]] == [1, 2]


def test_an_observer_gets_a_vote_under_the_directory_it_has(scripted: ScriptedCluster, run: Run) -> None:
    said = run("quorum", "add-voter", 3, "--address", "three:9093").stdout

    assert said == "node 3 votes; voters are 1, 2, 3\n"
    (request,) = scripted.requests("AddRaftVoter")
    assert request.voter_directory_id == DIRECTORY
    assert [(each.name, each.host, each.port) for each in request.listeners] == [
        ("CONTROLLER", "three", 9093)
    ]


def test_a_directory_can_be_told(scripted: ScriptedCluster, run: Run) -> None:
    run(
        "quorum",
        "add-voter",
        4,
        "--address",
        "f:1",
        "--directory",
        "AQECAwQFBgcICQoLDA0ODw",
        "--listener",
        "C",
    )

    (request,) = scripted.requests("AddRaftVoter")
    assert request.voter_directory_id[0] == 1
    assert request.listeners[0].name == "C"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["add-voter", "1", "--address", "a:1"], "node 1 is a voter already"),
        (["add-voter", "9", "--address", "a:1"], "node 9 is not an observer; start it first"),
        (["add-voter", "3", "--address", "a:1,b:2"], "one address"),
        (["remove-voter", "3"], "node 3 is not a voter"),
    ],
)
def test_what_cannot_be_is_one_line(run: Run, arguments: list[str], complaint: str) -> None:
    result = run("quorum", *arguments, fails=1)

    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_directory_that_is_none_is_wrong_usage(run: Run) -> None:
    assert (
        "22 letters" in run("quorum", "add-voter", 3, "--address", "a:1", "--directory", "x", fails=2).stderr
    )


def test_a_vote_is_taken_after_a_question(scripted: ScriptedCluster, run: Run) -> None:
    asked = run("quorum", "remove-voter", 2, stdin="n\n", fails=1)
    assert "Of the 1 that are left none may fail" in asked.stderr
    assert not scripted.requests("RemoveRaftVoter")

    assert run("quorum", "remove-voter", 2, "--yes").stdout == "node 2 votes no more; voters are 1\n"
