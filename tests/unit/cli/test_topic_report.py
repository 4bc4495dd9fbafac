"""A description of a topic, also when something is down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from andiron.cli.topic_report import TopicReport
from andiron.client.blocking.client import Client
from andiron.client.settings import ClientSettings
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        Logs(scripted).write(0, b"x", b"y")
        rows = [
            DescribeConfigsResourceResult("retention.ms", "5", config_source=1),
            DescribeConfigsResourceResult("segment.ms", "6", config_source=5),
        ]
        result = DescribeConfigsResult(0, None, 2, "t", rows)
        scripted.on(ApiKey.DESCRIBE_CONFIGS, lambda request: DescribeConfigsResponse(results=[result]))
        scripted.on(ApiKey.DESCRIBE_LOG_DIRS, sizes)
        yield scripted


def sizes(request: Any) -> DescribeLogDirsResponse:
    topic = DescribeLogDirsTopic(
        "t", [DescribeLogDirsPartition(each, 100) for each in request.topics[0].partitions]
    )
    return DescribeLogDirsResponse(results=[DescribeLogDirsResult(0, "/data", [topic])])


def report(broker: ScriptedBroker) -> TopicReport:
    with Client(broker.bootstrap, ClientSettings(default_api_timeout_ms=0)) as client:
        return TopicReport.gather(client, "t")


def test_it_is_aligned_for_people(broker: ScriptedBroker) -> None:
    assert report(broker).as_text() == "\n".join(
        [
            "t: 2 partitions, id aWlpaWlpaWlpaWlpaWlpaQ, at most 2 records, 200 B",
            "",
            "PARTITION  LEADER  EPOCH  REPLICAS  ISR  START  END  SIZE",
            "        0       1      0  1         1        0    2  100 B",
            "        1       1      0  1         1        0    0  100 B",
            "",
            "SETTING       VALUE  FROM",
            "retention.ms  5      topic",
        ]
    )


def test_it_is_complete_for_programs(broker: ScriptedBroker) -> None:
    told = report(broker).as_json()

    assert told["configs"] == {"retention.ms": {"value": "5", "source": "topic"}}
    assert told["partitions"][0] == {
        "partition": 0,
        "leader": 1,
        "leader_epoch": 0,
        "replicas": [1],
        "isr": [1],
        "offline": [],
        "start": 0,
        "end": 2,
        "bytes": 100,
    }


def test_a_partition_without_a_leader_is_described_as_far_as_it_goes(broker: ScriptedBroker) -> None:
    broker.topics["t"].partitions[1].leader_id = -1
    told = report(broker)

    assert "        1  none" in told.as_text()
    assert told.as_json()["partitions"][1]["leader"] is None
    assert told.as_json()["partitions"][1]["end"] is None


def test_sizes_that_cannot_be_had_are_left_out(broker: ScriptedBroker) -> None:
    refusal = DescribeLogDirsResponse(error_code=31)
    broker.on(ApiKey.DESCRIBE_LOG_DIRS, lambda request: refusal)

    assert report(broker).as_json()["partitions"][0]["bytes"] is None


def test_a_leader_that_is_lost_while_it_is_asked_leaves_its_offsets_out(broker: ScriptedBroker) -> None:
    broker.on(ApiKey.LIST_OFFSETS, lambda request: None)
    told = report(broker)

    assert "        0       1      0  1         1    ?      ?    ?" in told.as_text()
    assert "2 partitions not counted: no answer from broker 1" in told.as_text()
    assert told.as_json()["partitions"][0]["end"] is None
