"""The life of a topic, command by command."""

from __future__ import annotations

import json

from cli.conftest import Run


def test_a_topic_is_made_shown_changed_and_deleted(run: Run, topic: str) -> None:
    made = run("topic", "create", topic, "--partitions", 3, "--config", "retention.ms=1000000")
    assert made.stdout == f"created {topic}: 3 partitions, replication factor 1\n"

    listed = json.loads(run("topic", "list", "--json").stdout)
    assert {"name": topic, "partitions": 3, "replication_factor": 1, "internal": False} in listed
    assert topic in run("topic", "list").stdout

    altered = run("topic", "alter", topic, "--partitions", 4, "--config", "segment.bytes=2000000")
    assert f"{topic}: 4 partitions, 3 before" in altered.stdout
    assert "keys move" in altered.stderr

    run("topic", "alter", topic, "--delete-config", "retention.ms")
    described = json.loads(run("topic", "describe", topic, "--json").stdout)
    assert len(described["partitions"]) == 4
    assert described["configs"]["segment.bytes"] == {"value": "2000000", "source": "topic"}
    assert "retention.ms" not in described["configs"]

    assert run("topic", "delete", topic, "--yes").stdout == f"deleted {topic}\n"
    assert topic not in run("topic", "list").stdout


def test_a_description_tells_how_full_it_is(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 2)
    run("produce", topic, "--partition", 1, stdin="a\nb\nc\n")
    told = json.loads(run("topic", "describe", topic, "--json").stdout)

    assert [(each["start"], each["end"]) for each in told["partitions"]] == [(0, 0), (0, 3)]
    assert [each["bytes"] > 0 for each in told["partitions"]] == [False, True]
    assert [(each["leader"], each["isr"]) for each in told["partitions"]] == [(1, [1]), (1, [1])]
    assert "at most 3 records" in run("topic", "describe", topic).stdout


def test_a_topic_made_twice_is_refused_unless_that_is_fine(run: Run, topic: str) -> None:
    run("topic", "create", topic)

    assert "--if-not-exists" in run("topic", "create", topic, fails=1).stderr
    assert run("topic", "create", topic, "--if-not-exists").stdout == f"{topic} is there already\n"


def test_refusals_are_one_line(run: Run, topic: str) -> None:
    for arguments in (
        ["create", topic, "--replication-factor", 7],
        ["create", "not a name"],
        ["create", topic, "--config", "no.such.setting=1"],
        ["create", topic, "--config", "retention.ms=x"],
        ["describe", topic],
        ["alter", topic, "--partitions", 5],
        ["alter", topic, "--config", "retention.ms=5"],
        ["delete", topic, "--yes"],
    ):
        said = run("topic", *arguments, fails=1)
        assert said.stdout == ""
        assert said.stderr.startswith("andiron: ")
        assert said.stderr.count("\n") == 1


def test_fewer_partitions_are_refused(run: Run, topic: str) -> None:
    run("topic", "create", topic, "--partitions", 3)

    assert "3" in run("topic", "alter", topic, "--partitions", 2, fails=1).stderr


def test_without_an_answer_nothing_is_deleted(run: Run, topic: str) -> None:
    run("topic", "create", topic)
    run("topic", "delete", topic, stdin="", fails=1)

    assert topic in run("topic", "list").stdout
