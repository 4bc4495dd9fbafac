"""`andiron config`: whose settings, and how they are shown. With a cluster: tests/cli/test_config.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_cluster import DescribeClusterBroker, DescribeClusterResponse
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from andiron.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from unit.client.scripted import ScriptedBroker

ROWS = [
    DescribeConfigsResourceResult("retention.ms", "5", False, 1, config_type=5),
    DescribeConfigsResourceResult("password", None, False, 4, is_sensitive=True, config_type=9),
    DescribeConfigsResourceResult("segment.ms", "6", False, 5, config_type=5),
]


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        told = DescribeConfigsResponse(results=[DescribeConfigsResult(configs=ROWS)])
        scripted.on(ApiKey.DESCRIBE_CONFIGS, lambda request: told)
        done = IncrementalAlterConfigsResponse(responses=[AlterConfigsResourceResponse()])
        scripted.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, lambda request: done)
        cluster = DescribeClusterResponse(brokers=[DescribeClusterBroker(1, "127.0.0.1", scripted.port)])
        scripted.on(ApiKey.DESCRIBE_CLUSTER, lambda request: cluster)
        yield scripted


def config(broker: ScriptedBroker, *arguments: str) -> Any:
    return CliRunner().invoke(andiron, ["config", *arguments, "-b", broker.bootstrap])


def resource(broker: ScriptedBroker) -> tuple[int, str]:
    (request,) = broker.requests("DescribeConfigs")
    return request.resources[0].resource_type, request.resources[0].resource_name


def test_what_differs_from_the_defaults_is_shown(broker: ScriptedBroker) -> None:
    assert config(broker, "get", "topic", "t").stdout == "\n".join(
        [
            "SETTING       VALUE     FROM",
            "password      (secret)  static",
            "retention.ms  5         topic",
            "",
        ]
    )
    assert resource(broker) == (2, "t")


def test_all_are_shown_on_request(broker: ScriptedBroker) -> None:
    assert "segment.ms" in config(broker, "get", "topic", "t", "--all").stdout


def test_json_has_types_and_places(broker: ScriptedBroker) -> None:
    secret, retention = json.loads(config(broker, "get", "topic", "t", "--json").stdout)

    assert (retention["name"], retention["type"], retention["source"]) == ("retention.ms", "long", "topic")
    assert secret["value"] is None


def test_the_only_broker_needs_no_name(broker: ScriptedBroker) -> None:
    assert config(broker, "get", "broker").exit_code == 0
    assert resource(broker) == (4, "1")


def test_all_brokers_have_a_name(broker: ScriptedBroker) -> None:
    assert config(broker, "get", "broker", "all").exit_code == 0
    assert resource(broker) == (4, "")


def test_a_broker_that_is_not_there_is_told_with_those_that_are(broker: ScriptedBroker) -> None:
    result = config(broker, "get", "broker", "7")

    assert result.exit_code == 1
    assert "there is no broker 7; the cluster has 1; all stands for all of them" in result.stderr


def test_changes_are_sent_together(broker: ScriptedBroker) -> None:
    result = config(broker, "set", "topic", "t", "a=1", "b=x=y", "--delete", "c")

    assert result.stdout == "topic t: 3 settings changed\n"
    (request,) = broker.requests("IncrementalAlterConfigs")
    changes = [(each.name, each.config_operation, each.value) for each in request.resources[0].configs]
    assert changes == [("a", 0, "1"), ("b", 0, "x=y"), ("c", 1, None)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["get", "topic"],
        ["get", "group", "x"],
        ["set", "topic", "t"],
        ["set", "topic", "t", "a"],
        ["set", "topic"],
    ],
)
def test_wrong_usage_asks_nobody(broker: ScriptedBroker, arguments: list[str]) -> None:
    assert config(broker, *arguments).exit_code == 2
    assert broker.asked == []


def test_what_was_changed_is_json_for_programs(broker: ScriptedBroker) -> None:
    result = IncrementalAlterConfigsResponse(responses=[AlterConfigsResourceResponse(0, None, 2, "t")])
    broker.on(ApiKey.INCREMENTAL_ALTER_CONFIGS, lambda request: result)

    told = config(broker, "set", "topic", "t", "retention.ms=5", "--delete", "segment.ms", "--json").stdout

    assert json.loads(told) == {
        "kind": "topic",
        "name": "t",
        "set": {"retention.ms": "5"},
        "deleted": ["segment.ms"],
    }
