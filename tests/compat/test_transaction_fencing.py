"""One producer a transactional id: the newest. Whoever was there before finds out, however late it comes back.

A client has its own words for it, and they are tested by name: a program that catches the wrong one goes on as a
zombie. Producers whose time is over are told in much the same way, since the coordinator fences them to abort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peers import clients
from peers.clients import Refused
from peers.clients.base import LATEST, Record
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.transactors import LIBRARIES, Transactor, installed
from peers.waiting import eventually

FENCED = {
    "confluent": {"_FENCED"},
    "kafka_python": {"ProducerFencedError"},
    "aiokafka": {"ProducerFenced"},
    "java": {"ProducerFencedException"},
}
# What a partition says, which knows an epoch to be old and not why; these two clients pass it on as it is.
OUTDATED = FENCED | {
    "kafka_python": {"ProducerFencedError", "InvalidProducerEpochError"},
    "java": {"ProducerFencedException", "InvalidProducerEpochException"},
}
# Under version 2 it has then an epoch too few by one, as whoever ends a transaction twice, and another end in mind.
TIMED_OUT = OUTDATED | {"java": OUTDATED["java"] | {"InvalidTxnStateException"}}
each_library = pytest.mark.parametrize("library", LIBRARIES)
Start = Callable[..., Transactor]


def refusal(act: Callable[[], object]) -> str:
    """The library's name for the error."""
    with pytest.raises(Refused) as refused:
        act()
    return str(refused.value).partition("] ")[2].partition(":")[0]


def committed(bootstrap: str, topic: str) -> list[bytes | None]:
    records: list[Record] = clients.connect("confluent", bootstrap).read_all(topic, committed=True)
    return [record.value for record in records]


@each_library
def test_a_second_producer_fences_the_first(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    first = transactor(library, name)
    first.call("begin")
    first.send(topic, "of the first")

    second = transactor(library, name)

    assert refusal(lambda: first.call("commit")) in FENCED[library]
    second.write(topic, "of the second")
    assert committed(node.bootstrap, topic) == [b"of the second"]


@each_library
def test_a_zombie_between_transactions_cannot_begin_another(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    topic = make_topic()
    first = transactor(library, name)
    first.write(topic, "while it was alone")
    transactor(library, name)

    first.call("begin")
    assert refusal(lambda: first.send(topic, "too late")) in OUTDATED[library]

    assert committed(node.bootstrap, topic) == [b"while it was alone"]


@each_library
def test_a_zombie_that_slept_through_it_is_fenced_when_it_wakes(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str
) -> None:
    """It stops with the commit on its lips; meanwhile its successor goes on."""
    topic = make_topic()
    first = transactor(library, name)
    first.call("begin")
    first.send(topic, "of the zombie")
    first.freeze()
    first.say("commit")

    second = transactor(library, name)
    second.write(topic, "one")
    first.thaw()

    assert refusal(first.hear) in FENCED[library]
    second.write(topic, "two")
    assert committed(node.bootstrap, topic) == [b"one", b"two"]


@pytest.mark.parametrize("step", ["commit", "send"])
@each_library
def test_a_producer_whose_time_is_over_is_told(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str, library: str, step: str
) -> None:
    topic = make_topic()
    slow = transactor(library, name, timeout_ms=1000)
    slow.call("begin")
    slow.send(topic, "slow")

    plain = clients.connect("confluent", node.bootstrap)
    eventually(lambda: plain.stable_offset(topic, 0) == plain.list_offset(topic, 0, LATEST) == 2)

    late = (lambda: slow.send(topic, "late")) if step == "send" else (lambda: slow.call("commit"))
    assert refusal(late) in TIMED_OUT[library]
    assert committed(node.bootstrap, topic) == []


@pytest.mark.java
def test_a_producer_whose_time_was_over_begins_again(
    node: Server, transactor: Start, make_topic: Callable[..., str], name: str
) -> None:
    """Of the clients, Java's knows how: it aborts, and is given a new epoch."""
    topic = make_topic()
    slow = transactor("java", name, timeout_ms=1000)
    slow.call("begin")
    slow.send(topic, "slow")
    plain = clients.connect("confluent", node.bootstrap)
    eventually(lambda: plain.stable_offset(topic, 0) == 2)
    assert refusal(lambda: slow.send(topic, "late")) in OUTDATED["java"]

    slow.call("abort")
    slow.write(topic, "again")

    assert committed(node.bootstrap, topic) == [b"again"]


@pytest.fixture
def server(tmp_path: Path, server_kind: type[Node] | type[Kafka]) -> Iterator[Server]:
    """A server that may be killed."""
    with server_kind(tmp_path / "server") as server:
        clients.connect("confluent", server.bootstrap).create_topic("topic", 1, 1)
        yield server


@pytest.mark.slow
def test_a_transaction_survives_its_server(server: Server) -> None:
    """Each library has two transactions open when the node is killed, one to be committed and one to be aborted."""
    outcomes = {
        (library, outcome): Transactor(library, server.bootstrap).open(f"{library} {outcome}")
        for library in installed()
        for outcome in ("commit", "abort")
    }
    for (library, outcome), producer in outcomes.items():
        producer.call("begin")
        producer.send("topic", f"{library} {outcome} 1")
    assert committed(server.bootstrap, "topic") == []

    server.kill()
    server.start()

    assert committed(server.bootstrap, "topic") == []
    for (library, outcome), producer in outcomes.items():
        producer.send("topic", f"{library} {outcome} 2")
        producer.call(outcome)
    expected = {f"{library} commit {number}".encode() for library in installed() for number in (1, 2)}
    assert set(committed(server.bootstrap, "topic")) == expected
    for producer in outcomes.values():
        producer.kill()


@pytest.mark.slow
def test_a_fence_survives_the_server(server: Server) -> None:
    """The first of two producers is a zombie before the crash, and is one after it."""
    first = Transactor("confluent", server.bootstrap).open("id")
    first.call("begin")
    first.send("topic", "of the first")
    with Transactor("confluent", server.bootstrap).open("id") as second:
        second.call("begin")
        second.send("topic", "of the second")
        server.kill()
        server.start()

        assert refusal(lambda: first.call("commit")) in FENCED["confluent"]
        second.call("commit")

    assert committed(server.bootstrap, "topic") == [b"of the second"]
    first.kill()
