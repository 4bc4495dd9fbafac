"""Settings shown and changed on a running node."""

from __future__ import annotations

import json

from cli.conftest import Run


def test_a_topics_setting_is_set_shown_and_taken_back(run: Run, topic: str) -> None:
    run("topic", "create", topic)
    said = run("config", "set", "topic", topic, "retention.ms=5000", "cleanup.policy=compact,delete")
    assert said.stdout == f"topic {topic}: 2 settings changed\n"

    shown = {each["name"]: each for each in json.loads(run("config", "get", "topic", topic, "--json").stdout)}
    assert (shown["retention.ms"]["value"], shown["retention.ms"]["source"]) == ("5000", "topic")
    assert shown["retention.ms"]["type"] == "long"
    assert shown["cleanup.policy"]["value"] == "compact,delete"

    run("config", "set", "topic", topic, "--delete", "retention.ms")
    assert "retention.ms" not in run("config", "get", "topic", topic).stdout
    assert "retention.ms" in run("config", "get", "topic", topic, "--all").stdout


def test_brokers_share_what_is_given_to_all(run: Run, topic: str) -> None:
    run("topic", "create", topic)
    run("config", "set", "broker", "all", "log.flush.interval.ms=987654")
    try:
        assert "987654" in run("config", "get", "broker", "all").stdout
        line = next(
            line
            for line in run("config", "get", "topic", topic, "--all").stdout.splitlines()
            if "flush.ms" in line
        )
        assert line.split() == ["flush.ms", "987654", "dynamic_default"]
    finally:
        run("config", "set", "broker", "all", "--delete", "log.flush.interval.ms")


def test_a_broker_tells_what_it_was_started_with(run: Run) -> None:
    shown = run("config", "get", "broker").stdout

    assert "static" in shown
    assert "log.dirs" in shown


def test_refusals_are_one_line(run: Run, topic: str) -> None:
    run("topic", "create", topic)
    for arguments in (
        ["set", "topic", topic, "no.such=1"],
        ["set", "topic", topic, "retention.ms=x"],
        ["set", "topic", "no-such-topic", "retention.ms=1"],
        ["set", "broker", "1", "log.dirs=/elsewhere"],
        ["get", "topic", "no-such-topic"],
        ["get", "broker", "99"],
    ):
        said = run("config", *arguments, fails=1)
        assert said.stderr.count("\n") == 1, said


def test_all_changes_are_made_or_none(run: Run, topic: str) -> None:
    run("topic", "create", topic)
    run("config", "set", "topic", topic, "retention.ms=5000", "segment.bytes=x", fails=1)

    assert "retention.ms" not in run("config", "get", "topic", topic).stdout
