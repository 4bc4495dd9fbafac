"""Brokers that answer, and one that is frozen: it is asked like the others, and left out."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from andiron.client.blocking import side_by_side
from andiron.client.blocking.client import Client
from andiron.client.blocking.side_by_side import Glimpse, ask_side_by_side, glimpses, missing_of
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.metadata import MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic
from unit.client.logs import Logs
from unit.client.scripted import NODE_ID, ScriptedBroker

FROZEN = 2
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


@pytest.fixture
def frozen() -> Iterator[socket.socket]:
    """Takes connections, as the system does for a process that is stopped, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def broker(frozen: socket.socket, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedBroker]:
    """Leads t-0 and t-2; the frozen one leads t-1."""
    monkeypatch.setattr(side_by_side, "HASTE_MS", 300)
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=3)
        scripted.topics["t"].partitions[1] = MetadataPartition(0, 1, FROZEN, 0, [FROZEN], [FROZEN])
        Logs(scripted).write(0, b"x", b"y")
        beside = MetadataBroker(FROZEN, "127.0.0.1", frozen.getsockname()[1])

        def metadata(request: Any) -> MetadataResponse:
            answer = scripted.metadata(request)
            answer.brokers.append(beside)
            return answer

        scripted.on(ApiKey.METADATA, metadata)
        yield scripted


@pytest.fixture
def client(broker: ScriptedBroker) -> Iterator[Client]:
    with Client(broker.bootstrap) as made:
        made.topic("t")
        yield made


def test_a_frozen_leader_is_left_out_and_the_others_are_not_waited_for_twice(client: Client) -> None:
    began = time.monotonic()
    found = glimpses(client, [T0, T1, T2])

    assert found == {T0: Glimpse(0, 2), T2: Glimpse(0, 0)}
    assert time.monotonic() - began < 10, "and not the half minute that a request may take"


def test_whoever_does_not_answer_is_told_with_the_reason(client: Client) -> None:
    answers = ask_side_by_side(client, dict.fromkeys((NODE_ID, FROZEN, 7), lambda broker: "here"))

    assert answers[NODE_ID] == "here"
    assert isinstance(answers[FROZEN], ProtocolError)
    assert isinstance(answers[7], ProtocolError) and answers[7].code is ErrorCode.BROKER_NOT_AVAILABLE


def test_a_topic_lacks_the_leader_that_does_not_answer(client: Client) -> None:
    assert missing_of(client, client.topic("t")) == "broker 2, which leads 1 of them, does not answer"


def test_a_broker_that_leads_nothing_of_it_is_not_waited_for(client: Client, broker: ScriptedBroker) -> None:
    broker.topic("u", partitions=2)

    assert missing_of(client, client.topic("u")) == ""


def test_a_broker_that_does_not_know_a_topic_yet_is_waited_for(
    client: Client, broker: ScriptedBroker
) -> None:
    topic = client.topic("t")
    broker.topics["t"] = MetadataTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number, "t")

    assert "broker 1 knows the leaders of 0 of 3 partitions" in missing_of(client, topic)
