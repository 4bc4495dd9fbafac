"""Transactions as an operator sees them: open, ended, and hanging.

The node does not verify that a coordinator knows of what is written to a partition: only so can a transaction be
left hanging, the way older brokers and lost coordinators leave them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from cli.conftest import PEER, Run
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.raw import Raw
from peers.raw_producer import RawProducer
from peers.waiting import eventually

CARELESS = {"transaction.partition.verification.enable": "false"}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A node of this module's own."""
    folder = tmp_path_factory.mktemp("careless")
    server = (Kafka if PEER == "kafka" else Node)(folder, settings=CARELESS).start()
    yield server
    server.kill()


@contextmanager
def writing(node: Server, transactional_id: str, topic: str) -> Iterator[Producer]:
    """A producer with an open transaction over both partitions of a topic."""
    producer = Producer({"bootstrap.servers": node.bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(60)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce(topic, b"x", partition=partition)
    assert producer.flush(30) == 0
    yield producer


@pytest.fixture
def written(run: Run, topic: str) -> str:
    """A topic of two partitions."""
    run("topic", "create", topic, "--partitions", 2)
    return topic


def described(run: Run, transactional_id: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run("transaction", "describe", transactional_id, "--json").stdout)
    return told


def open_from(run: Run, topic: str) -> list[int | None]:
    told = json.loads(run("transaction", "producers", topic, "--json").stdout)
    return [each["start_offset"] for each in told]


def hanging(run: Run, topic: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(
        run("transaction", "find-hanging", "--topic", topic, "--older-than", "0s", "--json").stdout
    )
    return told


def test_what_was_aborted_is_not_consumed_unless_it_is_asked_for(node: Server, run: Run, topic: str) -> None:
    run("produce", topic, stdin="before\n")
    producer = Producer({"bootstrap.servers": node.bootstrap, "transactional.id": f"tx-{topic}"})
    producer.init_transactions(60)
    for value, ends in (
        (b"aborted", producer.abort_transaction),
        (b"committed", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        assert producer.flush(30) == 0
        ends(30)
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    assert producer.flush(30) == 0

    seen = run("consume", topic)
    assert seen.stdout.split() == ["before", "committed"]
    assert f"a transaction is open in {topic}:0" in seen.stderr
    assert run("consume", topic, "--read-uncommitted").stdout.split() == [
        "before",
        "aborted",
        "committed",
        "open",
    ]
    producer.abort_transaction(30)
    last = run("consume", topic, "--from", "-1")
    assert (last.stdout, last.stderr) == ("", "")


def test_an_open_transaction_is_listed_and_described(node: Server, run: Run, written: str) -> None:
    name = f"tx-{written}"
    with writing(node, name, written) as producer:
        told = described(run, name)
        text = run("transaction", "describe", name).stdout
        listed = run(
            "transaction", "list", "--state", "ongoing", "--id-pattern", f"{name}.*", "--json"
        ).stdout
        assert open_from(run, written) == [0, 0]
        assert hanging(run, written) == []
        assert name not in run("transaction", "list", "--longer-than", "1h").stdout
        assert name in run("transaction", "list", "--longer-than", "0s").stdout
        producer.commit_transaction(30)

    assert (told["transactional_id"], told["state"], told["timeout_ms"]) == (name, "Ongoing", 60_000)
    assert (told["coordinator"]["id"], told["coordinator"]["port"]) == (1, node.port)
    assert told["partitions"] == [{"topic": written, "partition": number} for number in (0, 1)]
    assert told["started_at"] is not None
    assert f"{name}: Ongoing, producer {told['producer_id']}" in text
    assert json.loads(listed) == [
        {
            "transactional_id": name,
            "coordinator": 1,
            "producer_id": told["producer_id"],
            "state": "Ongoing",
        }
    ]
    eventually(lambda: described(run, name)["state"] == "CompleteCommit")
    assert open_from(run, written) == [None, None]
    assert name not in run("transaction", "list", "--longer-than", "0s").stdout
    assert "open for" not in run("transaction", "describe", name).stdout


def test_an_id_is_aborted_and_its_producer_fenced(node: Server, run: Run, written: str) -> None:
    name = f"tx-{written}"
    with writing(node, name, written) as producer:
        assert (
            run("transaction", "abort", name, "--yes").stdout == f"{name}: aborted, its producer is fenced\n"
        )
        with pytest.raises(KafkaException):
            producer.commit_transaction(30)

    eventually(lambda: open_from(run, written) == [None, None])
    assert described(run, name)["partitions"] == []


def test_what_a_coordinator_knows_is_not_aborted_behind_its_back(
    node: Server, run: Run, written: str
) -> None:
    with writing(node, f"tx-{written}", written) as producer:
        said = run("transaction", "abort", "--topic", f"{written}:0", "--start-offset", 0, "--yes", fails=1)
        assert "a coordinator knows the transaction" in said.stderr
        producer.commit_transaction(30)


def test_a_hanging_transaction_is_found_and_aborted(node: Server, run: Run, written: str) -> None:
    with Raw(node.port) as link:
        producer = RawProducer(link, f"tx-{written}")
        assert producer.open().error == 0
        assert producer.produce(written, b"never ended", partition=1) == 0
    (found,) = hanging(run, written)
    assert (found["topic"], found["partition"], found["start_offset"]) == (written, 1, 0)
    assert found["producer_id"] == producer.identity.producer
    text = run("transaction", "find-hanging", "--topic", written, "--older-than", "0s").stdout
    assert written in text

    aborted = run("transaction", "abort", "--topic", f"{written}:1", "--start-offset", 0, "--yes")
    assert aborted.stdout == f"{written}-1: the transaction from offset 0 on is aborted\n"
    assert hanging(run, written) == []
    assert open_from(run, written) == [None]


def test_refusals_are_one_line(run: Run, written: str) -> None:
    for arguments in (
        ["describe", f"nosuch-{written}"],
        ["abort", f"nosuch-{written}", "--yes"],
        ["abort", "--topic", f"{written}:0", "--start-offset", 5, "--yes"],
        ["abort", "--topic", f"{written}:9", "--start-offset", 5, "--yes"],
        ["producers", f"nosuch-{written}"],
        ["find-hanging", "--topic", f"nosuch-{written}"],
        ["list", "--id-pattern", "("],
    ):
        said = run("transaction", *arguments, fails=1)
        assert said.stdout == ""
        assert said.stderr.startswith("andiron: ")
        assert said.stderr.count("\n") == 1
