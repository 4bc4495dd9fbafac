"""Brokers that answer, and one that is frozen: it is asked like the others, and left out."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from andiron.client.blocking import broker_survey
from andiron.client.blocking.broker_survey import (
    LogExtent,
    ask_every,
    ask_leaders,
    ask_side_by_side,
    log_extents,
    missing_of,
    sizes_on,
)
from andiron.client.blocking.client import Client
from andiron.client.connection import Connection
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused, Retriable
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from andiron.wire.messages.metadata import MetadataPartition, MetadataTopic
from unit.client.logs import Logs
from unit.client.scripted import FROZEN_ID as FROZEN
from unit.client.scripted import NODE_ID, ScriptedBroker

QUICK = ClientSettings(default_api_timeout_ms=500)
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedBroker]:
    """Leads t-0 and t-2; the frozen one leads t-1."""
    monkeypatch.setattr(broker_survey, "HASTE_MS", 300)
    with ScriptedBroker() as scripted, scripted.beside_a_frozen_one():
        scripted.topic("t", partitions=3)
        scripted.topics["t"].partitions[1] = MetadataPartition(0, 1, FROZEN, 0, [FROZEN], [FROZEN])
        Logs(scripted).write(0, b"x", b"y")
        scripted.on(ApiKey.DESCRIBE_CLUSTER, lambda request: DescribeClusterResponse(cluster_id="c"))
        yield scripted


@pytest.fixture
def client(broker: ScriptedBroker) -> Iterator[Client]:
    with Client(broker.bootstrap) as made:
        made.topic("t")
        yield made


def test_a_frozen_leader_is_left_out_and_the_others_are_not_waited_for_twice(client: Client) -> None:
    began = time.monotonic()
    found = log_extents(client, [T0, T1, T2])

    assert found == {T0: LogExtent(0, 2), T2: LogExtent(0, 0)}
    assert time.monotonic() - began < 10, "and not the half minute that a request may take"


def test_whoever_does_not_answer_is_told_with_the_reason(client: Client) -> None:
    answers = ask_side_by_side(client, dict.fromkeys((NODE_ID, FROZEN, 7), lambda broker: "here"))

    assert answers[NODE_ID] == "here"
    assert isinstance(answers[FROZEN], ProtocolError)
    assert isinstance(answers[7], ProtocolError) and answers[7].code is ErrorCode.BROKER_NOT_AVAILABLE


def test_every_broker_is_asked_and_the_silent_one_is_told_of(client: Client) -> None:
    silent: list[int] = []

    answers = ask_every(
        client,
        DescribeClusterRequest(),
        DescribeClusterResponse,
        check,
        left_out=lambda node, error: silent.append(node),
    )
    assert {node: answer.cluster_id for node, answer in answers.items()} == {NODE_ID: "c"}
    assert silent == [FROZEN]


def test_where_every_answer_counts_silence_is_what_went_wrong(broker: ScriptedBroker) -> None:
    with Client(broker.bootstrap, QUICK) as client, pytest.raises(Retriable, match="says nothing"):
        ask_every(client, DescribeClusterRequest(), DescribeClusterResponse, check)


def test_what_a_broker_refuses_or_is_too_old_for_is_raised_all_the_same(
    client: Client, broker: ScriptedBroker
) -> None:
    def ask(require: tuple[int, str] | None = None) -> None:
        ask_every(
            client,
            DescribeClusterRequest(),
            DescribeClusterResponse,
            check,
            require,
            lambda node, error: None,
        )

    broker.versions[ApiKey.DESCRIBE_CLUSTER] = (0, 0)
    with pytest.raises(Refused, match="this needs DescribeCluster 1"):
        ask((1, "this"))
    assert not broker.requests("DescribeCluster")
    broker.on(
        ApiKey.DESCRIBE_CLUSTER,
        lambda request: DescribeClusterResponse(error_code=ErrorCode.INVALID_REQUEST.number),
    )
    with pytest.raises(Refused):
        ask()


def check(answer: DescribeClusterResponse) -> None:
    if answer.error_code:
        raise ErrorCode.of(answer.error_code).error()


def test_leaders_are_asked_again_about_what_fails_in_passing_and_the_silent_one_is_left_out(
    client: Client,
) -> None:
    silent: set[int] = set()
    problems = [ErrorCode.NOT_LEADER_OR_FOLLOWER.error()]

    def ask(leader: Connection, asked: list[TopicPartition]) -> dict[TopicPartition, str | ProtocolError]:
        return {each: problems.pop() if problems else "told" for each in asked}

    found = ask_leaders(client, [T0, T1, T2], ask, lambda node, error: silent.add(node))
    assert found == {T0: "told", T2: "told"}
    assert silent == {FROZEN}


def test_sizes_are_told_by_those_who_answer(client: Client, broker: ScriptedBroker) -> None:
    topic = DescribeLogDirsTopic("t", [DescribeLogDirsPartition(0, 700, 0, False)])
    broker.on(
        ApiKey.DESCRIBE_LOG_DIRS,
        lambda request: DescribeLogDirsResponse(results=[DescribeLogDirsResult(0, "/data", [topic])]),
    )

    assert sizes_on(client, {NODE_ID: [T0], FROZEN: [T0, T1]}) == {(NODE_ID, T0): 700}


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
