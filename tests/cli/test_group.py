"""The life of a group as an operator sees it, with real consumers in it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from cli.conftest import Run
from peers.process import Server
from peers.waiting import eventually

HOUR_MS = 3_600_000
EVERY_PROTOCOL = pytest.mark.parametrize("protocol", ["classic", "consumer"])


@pytest.fixture
def group(topic: str) -> str:
    """A group name that no other test uses."""
    return f"g-{topic}"


@pytest.fixture
def filled(node: Server, run: Run, topic: str) -> str:
    """A topic of two partitions with ten records each, an hour between one and the next, the last written now."""
    run("topic", "create", topic, "--partitions", 2)
    producer = Producer({"bootstrap.servers": node.bootstrap})
    now = int(time.time() * 1000)
    for partition in (0, 1):
        for number in range(10):
            producer.produce(
                topic, b"%d" % number, partition=partition, timestamp=now - (9 - number) * HOUR_MS
            )
    assert producer.flush(30) == 0
    return topic


def subscribed(node: Server, group: str, topic: str, **config: Any) -> Consumer:
    """A consumer that is about to join."""
    consumer = Consumer(
        {
            "bootstrap.servers": node.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **config,
        }
    )
    consumer.subscribe([topic])
    return consumer


@contextmanager
def member(node: Server, group: str, topic: str, **config: Any) -> Iterator[Consumer]:
    """A consumer that has joined and has partitions."""
    consumer = subscribed(node, group, topic, **config)

    def has_partitions() -> bool:
        consumer.poll(0.1)
        return bool(consumer.assignment())

    try:
        eventually(has_partitions)
        yield consumer
    finally:
        consumer.close()


def first_read(node: Server, group: str, topic: str) -> tuple[int | None, int | None]:
    """Partition and offset of the first record that a new member gets."""
    consumer = subscribed(node, group, topic)
    try:
        message = consumer.poll(60)
        assert message is not None, "nothing came"
        return message.partition(), message.offset()
    finally:
        consumer.close()


def commit(node: Server, group: str, topic: str, *offsets: int) -> None:
    """As a consumer without membership does it."""
    consumer = Consumer({"bootstrap.servers": node.bootstrap, "group.id": group})
    places = [TopicPartition(topic, number, offset) for number, offset in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def described(run: Run, group: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run("group", "describe", group, "--json").stdout)
    return told


def committed(run: Run, group: str) -> list[int | None]:
    return [each["committed"] for each in described(run, group)["partitions"]]


@EVERY_PROTOCOL
def test_a_group_is_described_with_its_member_and_its_lag(
    node: Server, run: Run, filled: str, group: str, protocol: str
) -> None:
    config = {"group.protocol": protocol, "client.id": "teller"}
    with member(node, group, filled, **config) as consumer:
        consumer.commit(offsets=[TopicPartition(filled, 0, 7)], asynchronous=False)
        eventually(lambda: described(run, group)["state"] == "Stable")
        told = described(run, group)
        text = run("group", "describe", group).stdout
        listed = json.loads(run("group", "list", "--json", "--type", protocol).stdout)

    assert (told["group"], told["type"], told["protocol_type"]) == (group, protocol, "consumer")
    assert (told["coordinator"]["id"], told["coordinator"]["port"]) == (1, node.port)
    (only,) = told["members"]
    assert (only["client_id"], only["host"], only["topics"]) == ("teller", "127.0.0.1", [filled])
    assert only["partitions"] == [{"topic": filled, "partition": number} for number in (0, 1)]
    first, second = told["partitions"]
    assert (first["committed"], first["end"], first["lag"], first["owner"]) == (7, 10, 3, only["id"])
    assert 2 * 3600 <= first["lag_seconds"] < 2 * 3600 + 600
    assert (second["committed"], second["end"], second["lag"], second["lag_seconds"]) == (
        None,
        10,
        None,
        None,
    )
    assert f"{group}: Stable, {protocol} protocol" in text
    assert "behind by 3 records and 2h 0m" in text
    assert (group, "Stable") in [(each["group"], each["state"]) for each in listed]


@EVERY_PROTOCOL
def test_an_active_group_is_neither_reset_nor_deleted(
    node: Server, run: Run, filled: str, group: str, protocol: str
) -> None:
    with member(node, group, filled, **{"group.protocol": protocol}):
        reset = run("group", "reset", group, "--topic", filled, "--to-latest", "--execute", fails=1)
        deleted = run("group", "delete", group, "--yes", fails=1)
        forgotten = run("group", "delete-offsets", group, "--topic", filled, "--yes", fails=1)

    assert "1 member, which would undo a reset" in reset.stderr
    assert "stop its members first" in deleted.stderr
    assert "subscribed" in forgotten.stderr
    assert all(said.stderr.count("\n") == 1 for said in (reset, deleted, forgotten))


def test_a_reset_is_shown_first_and_consumers_go_on_from_there(
    node: Server, run: Run, filled: str, group: str
) -> None:
    commit(node, group, filled, 10, 10)
    shown = run("group", "reset", group, "--topic", f"{filled}:1", "--to-offset", 8)
    assert "nothing was changed" in shown.stderr
    assert shown.stdout.splitlines()[1].split() == [filled, "1", "10", "8", "-2"]
    assert committed(run, group) == [10, 10]

    done = run("group", "reset", group, "--topic", f"{filled}:1", "--to-offset", 8, "--execute")
    assert done.stderr == f"{group}: 1 offset set\n"
    assert committed(run, group) == [10, 8]
    assert first_read(node, group, filled) == (1, 8)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (["--to-earliest"], [0, 0]),
        (["--to-latest"], [10, 10]),
        (["--to-offset", 99], [10, 10]),
        (["--shift-by", -2], [3, 4]),
        (["--to-time", "150m ago"], [7, 7]),
        (["--by-duration", "90m"], [8, 8]),
        (["--to-time", "2999-01-01"], [10, 10]),
    ],
)
def test_a_group_is_reset_to_many_places(
    node: Server, run: Run, filled: str, group: str, target: list[object], expected: list[int]
) -> None:
    commit(node, group, filled, 5, 6)
    run("group", "reset", group, "--all-topics", *target, "--execute")

    assert committed(run, group) == expected


def test_a_group_can_be_made_by_a_reset_and_deleted(run: Run, filled: str, group: str) -> None:
    run("group", "reset", group, "--topic", filled, "--to-latest", "--execute")
    told = described(run, group)
    assert (told["state"], told["members"]) == ("Empty", [])
    assert [each["lag"] for each in told["partitions"]] == [0, 0]
    assert [each["lag_seconds"] for each in told["partitions"]] == [0, 0]

    assert group in run("group", "list", "--state", "empty").stdout
    assert run("group", "delete", group, "--yes").stdout == f"deleted {group}\n"
    assert group not in run("group", "list").stdout


def test_offsets_are_forgotten_one_by_one(node: Server, run: Run, filled: str, group: str) -> None:
    commit(node, group, filled, 5, 6)

    assert run("group", "delete-offsets", group, "--topic", f"{filled}:0", "--yes").returncode == 0
    assert [each["partition"] for each in described(run, group)["partitions"]] == [1]


def test_a_group_may_outlive_its_topic(node: Server, run: Run, filled: str, group: str, topic: str) -> None:
    other = f"{topic}-other"
    run("topic", "create", other)
    commit(node, group, filled, 5, 6)
    commit(node, group, other, 0)
    run("topic", "delete", other, "--yes")

    # Brokers forget the offsets of a deleted topic, sooner or later
    told = described(run, group)["partitions"]
    assert [each["committed"] for each in told if each["topic"] == filled] == [5, 6]
    assert all(each["end"] is None for each in told if each["topic"] == other)


def test_a_static_member_is_removed_by_its_instance(node: Server, run: Run, filled: str, group: str) -> None:
    config = {"group.instance.id": "worker-1", "session.timeout.ms": 45_000}
    with member(node, group, filled, **config):
        (only,) = described(run, group)["members"]
        assert only["instance_id"] == "worker-1"
        said = run("group", "remove-member", group, "--instance", "worker-1")
        assert said.stdout == f"{group}: removed worker-1\n"
        assert described(run, group)["members"] == []


def test_refusals_are_one_line(run: Run, filled: str, group: str) -> None:
    for arguments in (
        ["describe", group],
        ["delete", group, "--yes"],
        ["delete-offsets", group, "--topic", filled, "--yes"],
        ["remove-member", group, "--member", "nobody"],
        ["reset", group, "--all-topics", "--to-latest"],
        ["reset", group, "--topic", filled, "--shift-by", 1],
        ["reset", group, "--topic", f"{filled}:7", "--to-latest"],
        ["reset", group, "--topic", "nosuch", "--to-latest"],
        ["reset", "", "--topic", filled, "--to-latest", "--execute"],
    ):
        said = run("group", *arguments, fails=1)
        assert said.stdout == ""
        assert said.stderr.startswith("andiron: ")
        assert said.stderr.count("\n") == 1
