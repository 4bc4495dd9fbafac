"""Transactions of every client as every other client reads them.

A transaction shows all of its records or none. A read_committed reader stops at the last stable offset, where the
oldest open transaction began, and leaves out what was aborted; a read_uncommitted reader sees it all. The Java
client finishes each transaction under an epoch of its own (transaction version 2), the others do as they always did.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from peers import clients, jars
from peers.clients.base import LATEST, Record
from peers.committed import committed_offsets
from peers.process import Server
from peers.transactors import LIBRARIES, Transactor
from peers.waiting import eventually

each_library = pytest.mark.parametrize("library", LIBRARIES)
each_reader = pytest.mark.parametrize("reader", clients.those_that("read_all"))
Start = Callable[..., Transactor]


class Readers:
    """Every client there is, as readers of one topic."""

    def __init__(self, node: Server, topic: str, names: list[str] | None = None) -> None:
        self.bootstrap = node.bootstrap
        self.topic = topic
        self.names = names or clients.those_that("read_all")

    def see(self, partition: int = 0, *, committed: bool) -> list[str]:
        """The values, on which all agree; of clients that are not installed nothing is asked."""
        found = {}
        for name in self.names:
            with contextlib.suppress(jars.Missing):
                client = clients.connect(name, self.bootstrap)
                found[name] = values(client.read_all(self.topic, partition=partition, committed=committed))
        if not found:
            raise jars.Missing(f"none of {self.names} is installed")
        agreed = next(iter(found.values()))
        assert found == dict.fromkeys(found, agreed)
        return agreed


def values(records: list[Record]) -> list[str]:
    return [(record.value or b"").decode() for record in records]


@each_library
def test_what_is_committed_is_seen_and_what_is_aborted_is_not(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    producer = transactor(library, name)

    producer.write(topic, "a", "b")
    producer.write(topic, "never", "ever", commit=False)
    producer.write(topic, "c")

    readers = Readers(node, topic)
    assert readers.see(committed=True) == ["a", "b", "c"]
    assert readers.see(committed=False) == ["a", "b", "never", "ever", "c"]


@each_library
def test_an_open_transaction_holds_back_what_comes_after_it(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    plain = clients.connect("confluent", node.bootstrap)
    plain.write(topic, [Record(None, b"before")])
    slow = transactor(library, name)
    slow.call("begin")
    assert slow.send(topic, "slow") == [1]
    plain.write(topic, [Record(None, b"after")])

    readers = Readers(node, topic)
    assert readers.see(committed=True) == ["before"]
    slow.call("commit")
    eventually(lambda: plain.stable_offset(topic, 0) == plain.list_offset(topic, 0, LATEST) == 4)
    assert Readers(node, topic, ["confluent"]).see(committed=True) == ["before", "slow", "after"]


@each_library
def test_a_transaction_covers_several_partitions(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic(partitions=3)
    producer = transactor(library, name)
    for outcome in ("abort", "commit"):
        producer.call("begin")
        for partition in range(3):
            producer.send(topic, f"{outcome} {partition}", partition=partition)
        producer.call(outcome)

    readers = Readers(node, topic, ["confluent", "java"])
    for partition in range(3):
        assert readers.see(partition, committed=True) == [f"commit {partition}"]
        assert readers.see(partition, committed=False) == [f"abort {partition}", f"commit {partition}"]


@each_library
def test_an_empty_transaction_leaves_no_trace(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    producer = transactor(library, name)

    for outcome in ("commit", "abort", "commit"):
        producer.call("begin")
        producer.call(outcome)
    assert clients.connect("confluent", node.bootstrap).list_offset(topic, 0, LATEST) == 0

    producer.write(topic, "something")
    assert Readers(node, topic, ["confluent"]).see(committed=True) == ["something"]


@each_library
def test_batches_in_flight_are_aborted_with_the_rest(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    """A client may have some of them still to itself: what had gone out is aborted, what had not never goes."""
    topic = make_topic()
    producer = transactor(library, name)
    producer.call("begin")
    producer.send(topic, *(f"gone {number}" for number in range(2000)), wait=False)
    producer.call("abort")

    producer.write(topic, "stays")

    assert Readers(node, topic, ["confluent", "java"]).see(committed=True) == ["stays"]


@each_reader
def test_many_transactions_of_many_producers_interleave(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, reader: str
) -> None:
    """Each reader by itself has the aborted ranges right, whichever order they end in."""
    topic = make_topic()
    producers = [transactor("confluent", f"{name}-{number}") for number in range(3)]
    for producer in producers:
        producer.call("begin")
    for number in range(30):
        producers[number % 3].send(topic, f"{number}")
    for producer, outcome in zip(producers, ("abort", "commit", "abort"), strict=True):
        producer.call(outcome)
        producer.write(topic, f"after {outcome}")

    seen = Readers(node, topic, [reader])
    committed = [f"{number}" for number in range(1, 30, 3)]
    assert seen.see(committed=True) == [*committed, "after abort", "after commit", "after abort"]
    assert len(seen.see(committed=False)) == 33


@pytest.mark.parametrize("reader", clients.those_that("stable_offset"))
def test_the_latest_offset_of_a_committed_reader_is_the_last_stable_one(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, reader: str
) -> None:
    topic = make_topic()
    client = clients.connect(reader, node.bootstrap)
    producer = transactor("confluent", name)
    producer.write(topic, "a", "b")
    producer.call("begin")
    producer.send(topic, "c")

    assert client.stable_offset(topic, 0) == 3, "two records and their marker"
    assert client.list_offset(topic, 0, LATEST) == 4
    producer.call("abort")
    eventually(lambda: client.stable_offset(topic, 0) == 5)


@each_library
def test_offsets_are_part_of_the_transaction(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    producer = transactor(library, name)
    for offset, outcome in ((5, "commit"), (9, "abort")):
        producer.call("begin")
        producer.send(topic, outcome)
        producer.call("offsets", group=name, topic=topic, offsets={0: offset})
        producer.call(outcome)

    assert Readers(node, topic, ["confluent"]).see(committed=True) == ["commit"]
    assert committed_offsets(node.bootstrap, name, topic) == {0: 5}
