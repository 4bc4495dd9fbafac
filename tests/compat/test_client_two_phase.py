"""Two-phase commit by our own client: prepared here, decided there, with crashes of everybody in between.

test_two_phase.py holds the broker to the protocol; this holds the client to it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pytest

from andiron.client.blocking import Admin, Client, ColumnProducer, ColumnReader, GroupAdmin, Transaction
from andiron.client.blocking.transaction import end_transaction
from andiron.client.core.outbox import ProducerIdentity
from andiron.model.errors import ErrorCode, Fenced, ProtocolError
from andiron.model.ids import TopicPartition
from peers import clients
from peers.node import Node
from peers.waiting import eventually

PLACE = TopicPartition("topic", 0)
SETTINGS = {
    "transaction.two.phase.commit.enable": "true",
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
# Prepares in a process of its own, tells the identity, and waits to be killed.
PARTICIPANT = """
import json, sys, time
import pyarrow as pa
from andiron.client.blocking import Client, ColumnProducer, Transaction
from andiron.model.ids import TopicPartition

transaction = Transaction(Client(sys.argv[1]), sys.argv[2], timeout_ms=1000, two_phase=True)
transaction.initiate()
transaction.begin()
producer = ColumnProducer(Client(sys.argv[1]), transaction=transaction)
producer.send("topic", pa.RecordBatch.from_pydict({"value": [b"prepared"], "partition": [0]}))
transaction.send_offsets("group", {TopicPartition("topic", 0): (17, "decided")})
producer.flush()
print(json.dumps(transaction.identity), flush=True)
time.sleep(600)
"""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "node", settings=SETTINGS) as started:
        with Client(started.bootstrap) as client:
            Admin(client).create_topic("topic", 1, 1)
        yield started


@pytest.fixture
def client(node: Node) -> Iterator[Client]:
    with Client(node.bootstrap) as made:
        yield made


def prepare_and_die(node: Node, name: str = "participant") -> ProducerIdentity:
    command = [sys.executable, "-c", PARTICIPANT, node.bootstrap, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) as process:
        output: IO[bytes] | None = process.stdout
        assert output is not None
        told = json.loads(output.readline())
        process.send_signal(signal.SIGKILL)
    return ProducerIdentity(*told)


def crash(node: Node) -> None:
    node.kill()
    node.start()


def seen(node: Node, *values: bytes) -> None:
    """By librdkafka; the marker of what was ended may be a moment behind the answer."""
    other = clients.connect("confluent", node.bootstrap)

    def found() -> list[bytes | None]:
        return [record.value for record in other.read_all("topic", committed=True)]

    eventually(lambda: found() == [*values])


@pytest.mark.parametrize("commit", [True, False])
def test_what_was_prepared_outlives_everybody_and_is_ended_by_who_knows_its_name(
    node: Node, client: Client, commit: bool
) -> None:
    identity = prepare_and_die(node)
    crash(node)
    seen(node)

    end_transaction(client, "participant", identity, commit)
    seen(node, *([b"prepared"] if commit else []))
    crash(node)
    end_transaction(client, "participant", identity, commit)
    seen(node, *([b"prepared"] if commit else []))
    told = GroupAdmin(client).committed("group", stable=True)
    assert [(each.offset, each.metadata) for each in told.values()] == ([(17, "decided")] if commit else [])


def test_the_broker_may_die_between_the_end_and_its_repetition(node: Node, client: Client) -> None:
    """Killed at once: the markers may be written, or not."""
    identity = prepare_and_die(node)
    end_transaction(client, "participant", identity, commit=True)
    crash(node)
    end_transaction(client, "participant", identity, commit=True)

    with ColumnReader(client, PLACE, 0, 1, committed=True) as reader:
        assert [value for batch in reader for value in batch["value"].to_pylist()] == [b"prepared"]


def test_who_comes_next_may_keep_it_and_is_told_whose_it_is(node: Node, client: Client) -> None:
    identity = prepare_and_die(node)
    heir = Transaction(client, "participant", two_phase=True)
    initiated = heir.initiate(keep_prepared=True)

    assert initiated.prepared == identity
    with pytest.raises(Fenced):
        end_transaction(client, "participant", identity, commit=True)
    heir.commit()
    seen(node, b"prepared")
    with ColumnProducer(client, transaction=heir) as producer:
        heir.begin()
        producer.send("topic", pa.RecordBatch.from_pydict({"value": [b"next"]}))
        heir.commit()
    seen(node, b"prepared", b"next")


def test_who_does_not_keep_it_aborts_it(node: Node, client: Client) -> None:
    prepare_and_die(node)
    heir = Transaction(client, "participant", two_phase=True)

    assert heir.initiate().prepared is None
    seen(node)


def test_a_broker_where_it_is_not_allowed_says_so(tmp_path: Path) -> None:
    strict = {**SETTINGS, "transaction.two.phase.commit.enable": "false"}
    with Node(tmp_path / "node", settings=strict) as node, Client(node.bootstrap) as client:
        for keep, code in (
            (False, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
            (True, ErrorCode.UNSUPPORTED_VERSION),
        ):
            with pytest.raises(ProtocolError) as caught:
                Transaction(client, "participant", two_phase=not keep).initiate(keep_prepared=keep)
            assert caught.value.code is code
        assert Transaction(client, "participant").initiate().prepared is None
