"""`andiron topic` without a cluster: usage, and questions asked. With one: tests/cli/test_topic.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.wire.apis import ApiKey
from andiron.wire.messages.create_partitions import CreatePartitionsResponse, CreatePartitionsTopicResult
from andiron.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from andiron.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from unit.cli.answering import answered
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("orders", partitions=3)
        scripted.topic("__internal")
        scripted.topics["__internal"].is_internal = True
        yield scripted


def topic(broker: ScriptedBroker, *arguments: str, answer: str = "") -> Any:
    with answered(answer):
        return CliRunner().invoke(andiron, ["topic", *arguments, "-b", broker.bootstrap], input=answer)


def test_the_list_leaves_internal_topics_out(broker: ScriptedBroker) -> None:
    assert topic(broker, "list").stdout == "TOPIC   PARTITIONS  REPLICAS\norders           3         1\n"
    assert "__internal" in topic(broker, "list", "--internal").stdout


def test_the_list_is_json_for_programs(broker: ScriptedBroker) -> None:
    assert json.loads(topic(broker, "list", "--json").stdout) == [
        {"name": "orders", "partitions": 3, "replication_factor": 1, "internal": False}
    ]


def test_no_topics_are_a_remark(broker: ScriptedBroker) -> None:
    broker.topics.clear()
    result = topic(broker, "list")

    assert result.stdout == ""
    assert "andiron topic create" in result.stderr


def test_a_topic_that_is_there_may_be_fine(broker: ScriptedBroker) -> None:
    there = CreateTopicsResponse(topics=[CreatableTopicResult("orders", error_code=36)])
    broker.on(ApiKey.CREATE_TOPICS, lambda request: there)

    assert topic(broker, "create", "orders").exit_code == 1
    assert topic(broker, "create", "orders", "--if-not-exists").exit_code == 0


def test_deleting_asks_first(broker: ScriptedBroker) -> None:
    gone = DeleteTopicsResponse(responses=[DeletableTopicResult("orders")])
    broker.on(ApiKey.DELETE_TOPICS, lambda request: gone)

    assert topic(broker, "delete", "orders", answer="n\n").exit_code == 1
    assert not broker.requests("DeleteTopics")
    assert topic(broker, "delete", "orders", answer="y\n").stdout == "deleted orders\n"
    assert topic(broker, "delete", "orders", "--yes").exit_code == 0


def test_nothing_is_deleted_if_one_is_not_there(broker: ScriptedBroker) -> None:
    result = topic(broker, "delete", "orders", "ordres", "--yes")

    assert result.exit_code == 1
    assert "'ordres'" in result.stderr
    assert not broker.requests("DeleteTopics")


def test_to_alter_is_to_change_something(broker: ScriptedBroker) -> None:
    assert topic(broker, "alter", "orders").exit_code == 2


@pytest.mark.parametrize(
    "arguments", [["create"], ["create", "x", "--partitions", "0"], ["delete"], ["describe"]]
)
def test_wrong_usage_asks_nobody(broker: ScriptedBroker, arguments: list[str]) -> None:
    assert topic(broker, *arguments).exit_code == 2
    assert broker.asked == []


def test_what_was_changed_is_json_for_programs(broker: ScriptedBroker) -> None:
    def create(request: Any) -> CreateTopicsResponse:
        broker.topic("new", partitions=2)
        return CreateTopicsResponse(topics=[CreatableTopicResult("new")])

    def more(request: Any) -> CreatePartitionsResponse:
        broker.topic("new", partitions=request.topics[0].count)
        return CreatePartitionsResponse(results=[CreatePartitionsTopicResult("new")])

    gone = DeleteTopicsResponse(responses=[DeletableTopicResult("new")])
    there = CreateTopicsResponse(topics=[CreatableTopicResult("orders", error_code=36)])
    Logs(broker)
    broker.on(ApiKey.CREATE_TOPICS, create, lambda request: there)
    broker.on(ApiKey.CREATE_PARTITIONS, more)
    broker.on(ApiKey.DELETE_TOPICS, lambda request: gone)

    def told(*arguments: str) -> Any:
        return json.loads(topic(broker, *arguments, "--json").stdout)

    made = told("create", "new")
    assert (made["topic"], made["created"], made["partitions"], made["replication_factor"]) == (
        "new",
        True,
        2,
        1,
    )
    assert told("create", "orders", "--if-not-exists") == {"topic": "orders", "created": False}
    changed = {"topic": "new", "set": {}, "deleted": [], "partitions": 5, "partitions_before": 2}
    assert told("alter", "new", "--partitions", "5") == changed
    assert told("delete", "new", "--yes") == {"deleted": ["new"]}
