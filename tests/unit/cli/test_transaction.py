"""`andiron transaction` without a cluster: usage, and questions asked. With one: tests/cli/test_transaction.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.client.blocking import broker_survey
from andiron.client.settings import ClientSettings
from andiron.wire.messages.describe_producers import ProducerState
from andiron.wire.messages.metadata import MetadataPartition
from unit.cli.answering import answered
from unit.client.coordinating import Coordinating
from unit.client.scripted import FROZEN_ID, ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    """Producer 7 writes in partition 0 and its coordinator knows; of producer 6 in partition 1 nobody does."""
    made = Coordinating(broker)
    made.transaction("known", 7, t=[0])
    made.producers[0] = [ProducerState(7, 2, 9, 1_000, -1, 10)]
    made.producers[1] = [ProducerState(6, 0, 9, 1_000, -1, 20)]
    return made


def transaction(broker: ScriptedBroker, *arguments: str, answer: str = "") -> Any:
    with answered(answer):
        return CliRunner().invoke(andiron, ["transaction", *arguments, "-b", broker.bootstrap], input=answer)


def test_the_list_is_for_people_or_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert transaction(broker, "list").stdout == (
        "TRANSACTIONAL ID  PRODUCER  STATE    COORDINATOR\nknown                    7  Ongoing            1\n"
    )
    assert json.loads(transaction(broker, "list", "--json").stdout) == [
        {"transactional_id": "known", "coordinator": 1, "producer_id": 7, "state": "Ongoing"}
    ]


def test_filters_are_passed_on(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = transaction(
        broker,
        "list",
        *["--state", "empty", "--producer-id", "7", "--longer-than", "5m", "--id-pattern", "k.*"],
    )

    assert "no such transactions" in result.stderr
    (request,) = broker.requests("ListTransactions")
    assert (request.state_filters, request.producer_id_filters) == (["Empty"], [7])
    assert (request.duration_filter, request.transactional_id_pattern) == (300_000, "k.*")


def test_a_description_is_for_people_or_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert transaction(broker, "describe", "known").stdout.startswith("known: Ongoing, producer 7 epoch 2")
    assert json.loads(transaction(broker, "describe", "known", "--json").stdout)["producer_id"] == 7
    missing = transaction(broker, "describe", "nosuch")
    assert missing.exit_code == 1
    assert "`andiron transaction list` shows what there is" in missing.stderr


def test_producers_are_for_people_or_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert transaction(broker, "producers", "t").stdout.count("\n") == 3
    (told,) = json.loads(transaction(broker, "producers", "t:1", "--json").stdout)
    assert (told["producer_id"], told["start_offset"]) == (6, 20)
    coordinating.producers.clear()
    assert "no producer" in transaction(broker, "producers", "t").stderr


def test_what_hangs_is_found_anywhere(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = transaction(broker, "find-hanging")

    assert result.stdout.splitlines()[1].split()[:4] == ["t", "1", "20", "6"]
    assert "andiron transaction abort --topic" in result.stderr
    (told,) = json.loads(transaction(broker, "find-hanging", "--topic", "t:1", "--json").stdout)
    assert (told["partition"], told["start_offset"]) == (1, 20)
    assert "no transaction hangs" in transaction(broker, "find-hanging", "--topic", "t:0").stderr


def test_what_hangs_is_aborted_after_a_question(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    arguments = ["abort", "--topic", "t:1", "--start-offset", "20"]

    assert transaction(broker, *arguments, answer="n\n").exit_code == 1
    assert not broker.requests("WriteTxnMarkers")
    done = transaction(broker, *arguments, "--yes")
    assert done.stdout == "t-1: the transaction from offset 20 on is aborted\n"
    coordinating.producers[1] = [ProducerState(6, 0, 9, 1_000, -1, 20)]
    told = json.loads(transaction(broker, *arguments, "--yes", "--json").stdout)
    assert (told["aborted"], told["topic"], told["partition"], told["start_offset"]) == (True, "t", 1, 20)
    assert "no transaction hangs" in transaction(broker, "find-hanging").stderr


def test_what_a_coordinator_knows_is_not_aborted_behind_its_back(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    arguments = ["abort", "--topic", "t:0", "--start-offset", "10", "--yes"]
    result = transaction(broker, *arguments)

    assert result.exit_code == 1
    assert "--producer-id 7" in result.stderr
    assert not broker.requests("WriteTxnMarkers")
    assert transaction(broker, *arguments, "--force").exit_code == 0


def test_an_id_is_aborted_by_its_coordinator(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert transaction(broker, "abort", "known", answer="n\n").exit_code == 1
    done = transaction(broker, "abort", "known", "--yes")

    assert done.stdout == "known: aborted, its producer is fenced\n"
    assert coordinating.transactions["known"].transaction_state == "Empty"
    told = json.loads(transaction(broker, "abort", "known", "--yes", "--json").stdout)
    assert told == {"aborted": True, "transactional_id": "known"}


def test_what_is_not_open_is_not_aborted(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    nowhere = transaction(broker, "abort", "--topic", "t:0", "--start-offset", "11", "--yes")
    everywhere = transaction(broker, "abort", "--topic", "t", "--start-offset", "10", "--yes")

    assert "`andiron transaction producers t:0` shows those that are" in nowhere.stderr
    assert "one partition at a time" in everywhere.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe"],
        ["producers"],
        ["list", "--state", "happy"],
        ["list", "--longer-than", "ages"],
        ["find-hanging", "--older-than", "x"],
        ["abort"],
        ["abort", "--topic", "t:0"],
        ["abort", "--start-offset", "1"],
        ["abort", "id", "--topic", "t:0", "--start-offset", "1"],
        ["abort", "--topic", "t:0", "--topic", "t:1", "--start-offset", "1"],
    ],
)
def test_wrong_usage_asks_nobody(broker: ScriptedBroker, arguments: list[str]) -> None:
    assert transaction(broker, *arguments).exit_code == 2
    assert broker.asked == []


def test_transactions_and_producers_are_shown_without_a_frozen_broker_and_what_hangs_cannot_be_told(
    broker: ScriptedBroker, coordinating: Coordinating, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_survey, "HASTE_MS", 300)
    monkeypatch.setattr("andiron.cli.transaction.HASTY", ClientSettings(default_api_timeout_ms=300))
    with broker.beside_a_frozen_one():
        broker.topics["t"].partitions[0] = MetadataPartition(0, 0, FROZEN_ID, 0, [FROZEN_ID], [FROZEN_ID])
        listed = transaction(broker, "list")
        producers = transaction(broker, "producers", "t", "--json")
        hanging = transaction(broker, "find-hanging")

    assert (listed.exit_code, "known" in listed.stdout) == (0, True)
    assert listed.stderr.endswith("transactions that it coordinates are not listed\n")
    assert (producers.exit_code, [each["partition"] for each in json.loads(producers.stdout)]) == (0, [1])
    assert producers.stderr.startswith("no answer from broker 2 (")
    assert (hanging.exit_code, hanging.stdout) == (1, "")  # the frozen one may know of it
    assert "the partitions that it leads were not looked at\nandiron: 127.0.0.1:" in hanging.stderr
