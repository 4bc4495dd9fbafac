"""What an operator sees of transactions and may do about them: Java's Admin, and Kafka's own tool.

A transaction hangs where a partition holds one open that no coordinator knows of any more: nobody will ever end
it, and no read_committed reader gets past it. One is made here in the only honest way: the coordinator's own log is
taken from under it. The tool finds it, and aborts it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peers import clients, tooling
from peers.clients import Refused
from peers.clients.java import Java
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.transactors import LIBRARIES, Transactor
from peers.waiting import eventually

pytestmark = pytest.mark.java

TRANSACTIONAL_ID_NOT_FOUND = 105
TIMEOUT_MS = 60_000
Start = Callable[..., Transactor]


@pytest.fixture
def ask(node: Server) -> Callable[..., Any]:
    java = clients.connect("java", node.bootstrap)
    assert isinstance(java, Java)
    return lambda question, **fields: java.call("transactions", ask=question, **fields)


@pytest.fixture
def opened(transactor: Start, make_topic: Callable[..., str], name: str) -> tuple[str, Transactor]:
    """A topic, and a transaction open on both of its partitions under the test's name."""
    topic = make_topic(partitions=2)
    producer = transactor("confluent", name, timeout_ms=TIMEOUT_MS)
    producer.write(topic, "before", "and before")
    producer.call("begin")
    producer.send(topic, "now")
    producer.send(topic, "and here", partition=1)
    return topic, producer


def test_a_transaction_is_described(
    ask: Callable[..., Any], opened: tuple[str, Transactor], name: str
) -> None:
    topic, producer = opened

    found = ask("describe", id=name)

    assert found.pop("producer") >= 0
    assert found.pop("epoch") >= 0
    assert found.pop("coordinator") >= 0
    assert found == {
        "state": "Ongoing",
        "timeout_ms": TIMEOUT_MS,
        "started": True,
        "partitions": [f"{topic}-0", f"{topic}-1"],
    }
    producer.call("commit")
    eventually(lambda: ask("describe", id=name)["state"] == "CompleteCommit")
    assert ask("describe", id=name)["partitions"] == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_in_version_2_each_transaction_has_an_epoch_of_its_own(
    ask: Callable[..., Any], transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    """Of the clients, Java's speaks it, where the broker says that it is final; the others keep their epoch."""
    topic = make_topic()
    producer = transactor(library, name)
    before = ask("describe", id=name)["epoch"]

    producer.write(topic, "one")
    producer.write(topic, "two", commit=False)
    producer.write(topic, "three")

    assert ask("describe", id=name)["epoch"] - before == (3 if library == "java" else 0)


def test_a_transactional_id_that_nobody_ever_had(ask: Callable[..., Any], name: str) -> None:
    with pytest.raises(Refused) as refused:
        ask("describe", id=name)
    assert refused.value.code == TRANSACTIONAL_ID_NOT_FOUND


def test_transactions_are_listed_and_filtered(
    ask: Callable[..., Any], opened: tuple[str, Transactor], transactor: Start, name: str
) -> None:
    transactor("confluent", f"{name}-idle")
    idle, busy = {f"{name}-idle"}, {name}

    def listed(**filters: Any) -> set[str]:
        return {found for found in ask("list", **filters) if found.startswith(name)}

    producer = ask("list")[name]["producer"]
    assert ask("list")[name] == {"producer": ask("describe", id=name)["producer"], "state": "Ongoing"}
    assert listed() == busy | idle
    assert listed(states=["Ongoing"]) == busy
    assert listed(states=["Empty"]) == idle
    assert listed(states=["Ongoing", "Empty"]) == busy | idle
    assert listed(states=["CompleteAbort"]) == set()
    assert listed(producers=[producer]) == busy
    assert listed(producers=[producer + 1_000_000]) == set()
    assert listed(pattern=f"{name}-i.*") == idle
    assert listed(pattern=name) == busy, "a pattern is for the whole of an id"
    assert busy <= listed(longer_than_ms=0)
    assert not busy & listed(longer_than_ms=3_600_000)


def test_the_producers_of_a_partition_are_described(
    ask: Callable[..., Any], opened: tuple[str, Transactor], name: str
) -> None:
    topic, producer = opened
    holder = ask("describe", id=name)

    (found,) = ask("producers", topic=topic, partition=0)

    assert (found["producer"], found["epoch"]) == (holder["producer"], holder["epoch"])
    assert (found["sequence"], found["start"]) == (2, 3), "two records and a marker were there before"
    producer.call("abort")
    eventually(lambda: ask("producers", topic=topic, partition=0)[0]["start"] == -1)


def test_an_open_transaction_is_aborted_on_a_partition(
    node: Server, ask: Callable[..., Any], opened: tuple[str, Transactor]
) -> None:
    """It is for those that hang, but takes any."""
    topic, _ = opened
    client = clients.connect("confluent", node.bootstrap)
    assert client.stable_offset(topic, 0) == 3
    (found,) = ask("producers", topic=topic, partition=0)

    ask(
        "abort",
        topic=topic,
        partition=0,
        producer=found["producer"],
        epoch=found["epoch"],
        coordinator_epoch=max(found["coordinator_epoch"], 0),
    )

    assert client.stable_offset(topic, 0) == 5
    assert client.stable_offset(topic, 1) == 0
    values = [record.value for record in client.read_all(topic, committed=True)]
    assert values == [b"before", b"and before"]


@pytest.mark.parametrize("question", ["fence", "terminate"])
def test_a_producer_is_fenced_by_the_operator(
    node: Server, ask: Callable[..., Any], opened: tuple[str, Transactor], name: str, question: str
) -> None:
    topic, producer = opened
    before = ask("describe", id=name)

    ask(question, id=name)

    after = ask("describe", id=name)
    assert (after["producer"], after["epoch"]) > (before["producer"], before["epoch"])
    with pytest.raises(Refused, match="_FENCED"):
        producer.call("commit")
    client = clients.connect("confluent", node.bootstrap)
    eventually(lambda: client.stable_offset(topic, 1) == 2)
    assert client.read_all(topic, partition=1, committed=True) == []


def tool(server: Server, *arguments: str) -> str:
    """kafka-transactions.sh."""
    return tooling.run("kafka-transactions", server.bootstrap, *arguments)


def rows(printed: str) -> list[dict[str, str]]:
    """A table of the tool, by the names of its columns."""
    head, *lines = (line.split("\t") for line in printed.splitlines() if line.strip())
    names = [name.strip() for name in head]
    return [dict(zip(names, (cell.strip() for cell in line), strict=False)) for line in lines]


def test_the_tool_knows_an_open_transaction_from_one_that_hangs(
    node: Server, opened: tuple[str, Transactor], name: str
) -> None:
    topic, _ = opened

    described = rows(tool(node, "describe", "--transactional-id", name))
    hanging = tool(node, "find-hanging", "--topic", topic, "--max-transaction-timeout", "0")

    assert [row["TransactionState"] for row in described] == ["Ongoing"]
    assert rows(hanging) == []


@pytest.mark.slow
def test_a_transaction_that_hangs_is_found_and_aborted(
    tmp_path: Path, server_kind: type[Node] | type[Kafka]
) -> None:
    with server_kind(tmp_path / "server", settings={"transaction.state.log.num.partitions": "2"}) as server:
        client = clients.connect("confluent", server.bootstrap)
        client.create_topic("topic", 1, 1)
        with Transactor("confluent", server.bootstrap).open("forgotten") as producer:
            producer.write("topic", "before")
            producer.call("begin")
            producer.send("topic", "for ever")
        server.stop()
        for folder in server.data.glob("__transaction_state-*"):
            shutil.rmtree(folder)
        server.start()
        place = ("--topic", "topic", "--partition", "0")

        eventually(lambda: client.stable_offset("topic", 0) == 2)
        (found,) = rows(tool(server, "find-hanging", *place, "--max-transaction-timeout", "0"))
        tool(server, "abort", *place, "--start-offset", found["StartOffset"])

        assert client.stable_offset("topic", 0) == 4
        assert [record.value for record in client.read_all("topic", committed=True)] == [b"before"]
