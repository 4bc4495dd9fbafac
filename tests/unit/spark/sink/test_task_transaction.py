"""A task's transaction: opened by its first rows, prepared when all of them are acknowledged."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from andiron.client.blocking.transaction import Transaction, end_transaction
from andiron.client.core.transaction import InitiatedIdentity
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.spark.sink import task_transaction as module
from andiron.spark.sink.task_transaction import TaskTransaction, participant_names
from peers.waiting import eventually
from unit.spark.sinking import Field, into, node_in, rows


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with node_in(tmp_path_factory.mktemp("node")) as node, contextlib.closing(Field(node)) as made:
        yield made


@pytest.fixture
def topic(field: Field) -> str:
    return field.topics.make(2)


def test_rows_are_seen_when_somebody_commits_them(field: Field, topic: str) -> None:
    written = TaskTransaction(field.client, field.options(), into(topic), "tx-seen", two_phase=True)
    written.write(rows("ab"))
    written.write(rows("c"))
    written.flush()
    written.close()

    assert (written.count, written.rows) == (3, {topic: 3})
    assert field.topics.values(topic) == []
    end_transaction(field.client, "tx-seen", written.identity, commit=True)
    eventually(lambda: field.topics.values(topic) == ["a", "b", "c"])


def test_what_is_given_up_is_never_seen(field: Field, topic: str) -> None:
    written = TaskTransaction(field.client, field.options(), into(topic), "tx-given-up", two_phase=True)
    written.write(rows("ab"))
    written.flush()
    written.abort()
    written.close()

    eventually(lambda: field.state("tx-given-up") == "CompleteAbort")
    assert field.topics.values(topic) == []


def test_without_a_transaction_rows_are_seen_at_once(field: Field, topic: str) -> None:
    written = TaskTransaction(field.client, field.options(delivery__guarantee="at_least_once"), into(topic))
    written.write(rows("ab"))
    written.flush()
    written.close()

    assert field.topics.values(topic) == ["a", "b"]


def prepare(field: Field, topic: str, name: str, *, two_phase: bool) -> None:
    options = field.options(**{"kafka.transaction.timeout.ms": "100"})
    written = TaskTransaction(field.client, options, into(topic), name, two_phase=two_phase)
    written.write(rows("a"))
    written.flush()
    written.close()


def test_what_is_prepared_outlives_its_timeout(field: Field, topic: str) -> None:
    prepare(field, topic, "tx-two", two_phase=True)
    prepare(field, topic, "tx-one", two_phase=False)

    eventually(lambda: field.state("tx-one") == "CompleteAbort")
    assert field.state("tx-two") == "Ongoing"


def test_a_broker_without_two_phase_commit_gets_ordinary_ones_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = node_in(tmp_path / "node", **{"transaction.two.phase.commit.enable": "false"})
    with node, contextlib.closing(Field(node)) as field, caplog.at_level(logging.WARNING):
        topic = field.topics.make()
        for name in ("a", "b"):
            prepare(field, topic, name, two_phase=True)
        eventually(lambda: field.state("a") == "CompleteAbort")

    (warning,) = caplog.messages
    assert warning.startswith("Broker refuses two-phase commit")
    assert 'error="TRANSACTIONAL_ID_AUTHORIZATION_FAILED' in warning


def test_what_apache_kafka_wants_for_two_phase_commit_is_named(
    field: Field, topic: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    initiate = Transaction.initiate

    def as_kafka_comes(self: Transaction) -> InitiatedIdentity:
        if self.two_phase:
            raise ErrorCode.UNSUPPORTED_VERSION.error("InitProducerId 6")
        return initiate(self)

    monkeypatch.setattr(Transaction, "initiate", as_kafka_comes)
    monkeypatch.setattr(module, "_without", set())
    with caplog.at_level(logging.WARNING):
        written = TaskTransaction(field.client, field.options(), into(topic), "tx-kafka", two_phase=True)
        written.write(rows("a"))
    written.abort()

    (warning,) = caplog.messages
    assert "unstable.api.versions.enable=true beside transaction.two.phase.commit.enable=true" in warning
    assert "written again when the query is started again" in warning
    assert written.digest, "by which it is known then"


def test_a_topic_that_is_not_there_and_is_not_made_is_explained(tmp_path: Path) -> None:
    node = node_in(tmp_path / "node", **{"auto.create.topics.enable": "false"})
    with node, contextlib.closing(Field(node)) as field:
        written = TaskTransaction(field.client, field.options(), into("nowhere"), "tx")
        with pytest.raises(
            ProtocolError, match=r"create the topic, or have auto\.create\.topics\.enable=true"
        ):
            written.write(rows("a"))
            written.flush()


def test_a_topic_that_is_not_there_is_made_by_the_broker(field: Field) -> None:
    topic = field.topics.new_name()
    written = TaskTransaction(field.client, field.options(), into(topic))
    written.write(rows("a"))
    written.flush()

    assert field.topics.values(topic) == ["a"]


def test_a_timeout_that_the_broker_does_not_allow_is_explained(field: Field, topic: str) -> None:
    options = field.options(**{"kafka.transaction.timeout.ms": "2000000000"})

    with pytest.raises(ProtocolError, match=r"say a shorter kafka\.transaction\.timeout\.ms") as raised:
        TaskTransaction(field.client, options, into(topic), "tx-slow")
    assert raised.value.code is ErrorCode.INVALID_TRANSACTION_TIMEOUT


def test_a_process_keeps_its_names_and_a_fork_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = participant_names()
    assert participant_names() is mine

    monkeypatch.setattr(module.os, "getpid", lambda: -1)
    assert participant_names().worker != mine.worker
