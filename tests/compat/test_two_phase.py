"""Two-phase commit with Kafka as a participant (KIP-939), by hand: no client can do it all yet.

A transaction is prepared when all of it is written and somebody else, a database or the driver of a Spark query,
decides what becomes of it. Until then it must outlive everything: its producer, its timeout, the node. Whoever comes to
complete it asks for its transactional id with `keep_prepared`, is told under which identity it was written, and
commits it if that is the one that was decided upon.

    open(two_phase) ─▶ produce … ─▶ prepared as (7, 0) ─✗ killed
    open(two_phase, keep_prepared) ─▶ ongoing (7, 0), now you are (7, 1) ─▶ end(commit = it is the one decided upon)

Apache Kafka 4.3.1 has the first half of it, behind `unstable.api.versions.enable`: a transaction with two_phase
never times out, but `keep_prepared` is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from peers import clients, transaction_frames
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.raw import Raw
from peers.raw_producer import IMPLICIT, RawProducer
from peers.transaction_frames import Opened
from peers.waiting import eventually

UNSUPPORTED_VERSION = 35
INVALID_TRANSACTION_TIMEOUT = 50
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
PRODUCER_FENCED = 90

FOREVER_MS = 2**31 - 1
NOTHING = (-1, -1)
CONSENT = {"transaction.two.phase.commit.enable": "true"}
QUICKLY = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    "transaction.state.log.num.partitions": "3",
}


@pytest.fixture
def consent() -> dict[str, str]:
    """What the operator has allowed; a test that needs a stricter one says so."""
    return CONSENT


@pytest.fixture
def server(
    tmp_path: Path, server_kind: type[Node] | type[Kafka], consent: dict[str, str]
) -> Iterator[Server]:
    settings = {**QUICKLY, **consent}
    if server_kind is Kafka:
        settings["unstable.api.versions.enable"] = "true"
    with server_kind(tmp_path / "server", settings=settings) as server:
        clients.connect("confluent", server.bootstrap).create_topic("topic", 2, 1)
        yield server


@pytest.fixture
def keeping(server_kind: type[Node] | type[Kafka]) -> None:
    if server_kind is Kafka:
        pytest.skip("Kafka 4.3.1 does not keep prepared transactions")


class Participant:
    """Somebody who takes part under a transactional id; each has a connection of its own."""

    def __init__(self, server: Server, name: str = "participant") -> None:
        self.link = Raw(server.port)
        self.producer = RawProducer(self.link, name)

    def open(self, timeout_ms: int = 1000, *, two_phase: bool = True, keep_prepared: bool = False) -> Opened:
        return self.producer.open(timeout_ms, version=6, two_phase=two_phase, keep_prepared=keep_prepared)

    def prepare(self, value: bytes) -> tuple[int, int]:
        """Write to both partitions; return the state that whoever decides keeps."""
        for partition in (0, 1):
            assert self.producer.produce("topic", value, partition=partition, version=IMPLICIT) == 0
        return self.producer.identity.producer, self.producer.identity.epoch

    def complete(self, ongoing: tuple[int, int], decided: tuple[int, int]) -> None:
        """Commit what was decided upon; anything else was never to be."""
        assert self.producer.end(commit=ongoing == decided, version=5) == 0

    @property
    def state(self) -> str:
        """As the coordinator describes it; none while it is still loading."""
        asked = transaction_frames.describe_transaction(self.producer.identity.transactional_id)
        return transaction_frames.read_described(self.link.ask(asked))[1]

    def leave(self) -> None:
        self.link.close()


def committed(server: Server, partition: int = 0) -> list[bytes | None]:
    client = clients.connect("confluent", server.bootstrap)
    return [record.value for record in client.read_all("topic", partition=partition, committed=True)]


def seen(server: Server, *values: bytes) -> None:
    eventually(lambda: all(committed(server, partition) == [*values] for partition in (0, 1)))


@pytest.mark.parametrize("consent", [{"transaction.two.phase.commit.enable": "false"}])
def test_it_is_for_the_operator_to_allow(server: Server) -> None:
    refused = Participant(server).open()

    assert refused.error == TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert Participant(server).open(two_phase=False).error == 0
    assert Participant(server).open(two_phase=False, keep_prepared=True).error == UNSUPPORTED_VERSION


def test_any_timeout_will_do_since_none_counts(server: Server) -> None:
    assert Participant(server).open(FOREVER_MS).error == 0
    assert Participant(server).open(FOREVER_MS, two_phase=False).error == INVALID_TRANSACTION_TIMEOUT


@pytest.mark.slow
def test_a_prepared_transaction_outlives_its_producer_its_timeout_and_the_node(server: Server) -> None:
    first = Participant(server)
    first.open(timeout_ms=1000)
    first.prepare(b"prepared")
    first.leave()
    mortal = Participant(server, "mortal")
    mortal.open(timeout_ms=1000, two_phase=False)
    mortal.prepare(b"too slow")

    eventually(lambda: mortal.state == "CompleteAbort")
    assert Participant(server).state == "Ongoing"
    server.kill()
    server.start()
    witness = Participant(server)
    eventually(lambda: witness.state == "Ongoing")
    assert committed(server) == []


@pytest.mark.usefixtures("keeping")
def test_who_comes_to_complete_it_commits_what_was_decided_upon(server: Server) -> None:
    first = Participant(server)
    first.open()
    decided = first.prepare(b"prepared")

    second = Participant(server)
    opened = second.open(keep_prepared=True)

    assert (opened.error, opened.ongoing) == (0, decided)
    assert (opened.producer, opened.epoch) != decided
    assert first.producer.end(commit=False, version=5) == PRODUCER_FENCED
    second.complete(opened.ongoing, decided)
    seen(server, b"prepared")


@pytest.mark.usefixtures("keeping")
def test_what_was_not_decided_upon_is_aborted(server: Server) -> None:
    first = Participant(server)
    first.open()
    decided = first.prepare(b"decided")
    first.complete(decided, decided)
    first.prepare(b"undecided")

    second = Participant(server)
    opened = second.open(keep_prepared=True)

    assert opened.ongoing != decided
    second.complete(opened.ongoing, decided)
    seen(server, b"decided")


@pytest.mark.usefixtures("keeping")
def test_it_is_completed_after_many_crashes(server: Server) -> None:
    """Of the node once, and of one coordinator of the two phases after another."""
    first = Participant(server)
    first.open()
    decided = first.prepare(b"prepared")
    server.kill()
    server.start()

    identities = []
    for _ in range(3):
        heir = Participant(server)
        opened = heir.open(keep_prepared=True)
        assert (opened.error, opened.ongoing) == (0, decided)
        identities.append((opened.producer, opened.epoch))
    server.kill()
    server.start()

    heir = Participant(server)
    opened = heir.open(keep_prepared=True)
    assert len({decided, *identities, (opened.producer, opened.epoch)}) == 5, "each fences all before it"
    heir.complete(opened.ongoing, decided)
    seen(server, b"prepared")


@pytest.mark.usefixtures("keeping")
def test_where_nothing_is_open_nothing_is_kept(server: Server) -> None:
    first = Participant(server)

    assert first.open(keep_prepared=True).ongoing == NOTHING
    decided = first.prepare(b"one")
    first.complete(decided, decided)
    assert Participant(server).open(keep_prepared=True).ongoing == NOTHING
    seen(server, b"one")


@pytest.mark.usefixtures("keeping")
def test_the_next_transaction_begins_as_any_other(server: Server) -> None:
    first = Participant(server)
    first.open()
    decided = first.prepare(b"one")
    second = Participant(server)
    second.complete(second.open(keep_prepared=True).ongoing, decided)

    decided = second.prepare(b"two")
    second.complete(decided, decided)

    seen(server, b"one", b"two")


@pytest.mark.usefixtures("keeping")
def test_an_ordinary_transaction_may_be_kept_while_its_time_lasts(server: Server) -> None:
    first = Participant(server)
    first.open(timeout_ms=60_000, two_phase=False)
    decided = first.prepare(b"kept")

    second = Participant(server)
    opened = second.open(timeout_ms=60_000, two_phase=False, keep_prepared=True)

    assert (opened.error, opened.ongoing) == (0, decided)
    second.complete(opened.ongoing, decided)
    seen(server, b"kept")


def test_who_does_not_ask_to_keep_it_aborts_it(server: Server) -> None:
    first = Participant(server)
    first.open()
    first.prepare(b"prepared")

    second = Participant(server)
    assert second.open().ongoing == NOTHING
    second.complete(NOTHING, second.prepare(b"aborted too"))

    seen(server)
