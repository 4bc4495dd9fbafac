"""Answers about settings and log directories, as values."""

from __future__ import annotations

from andiron.client.core.descriptions import (
    Config,
    LogDir,
    Resource,
    ResourceType,
    Synonym,
    configs_of,
    source_name,
)
from andiron.model.ids import TopicPartition
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from andiron.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def told(name: str, source: int = 5) -> DescribeConfigsResourceResult:
    synonyms = [DescribeConfigsSynonym("log." + name, "1", 4)]
    return DescribeConfigsResourceResult(name, "1", False, source, False, synonyms, 3, "why")


def test_a_setting_is_told_with_all_its_places() -> None:
    config = Config.of(told("segment.bytes", source=1))

    assert config == Config(
        "segment.bytes", "1", 1, False, False, 3, "why", [Synonym("log.segment.bytes", "1", 4)]
    )
    assert config.source_name == "topic"
    assert not config.is_default


def test_settings_come_by_name() -> None:
    result = DescribeConfigsResult(configs=[told("b"), told("a")])

    assert [config.name for config in configs_of(result)] == ["a", "b"]
    assert all(config.is_default for config in configs_of(result))


def test_a_source_of_a_later_kafka_has_a_number() -> None:
    assert source_name(4) == "static"
    assert source_name(9) == "source_9"


def test_sizes_are_by_partition_and_without_what_is_being_moved() -> None:
    topic = DescribeLogDirsTopic(
        "t", [DescribeLogDirsPartition(0, 10, 0, False), DescribeLogDirsPartition(1, 20, 0, True)]
    )
    log_dir = LogDir.of(DescribeLogDirsResult(0, "/data", [topic], 100, 50))

    assert log_dir == LogDir("/data", {TopicPartition("t", 0): 10}, 100, 50)


def test_a_resource_is_shown_in_words() -> None:
    assert str(Resource(ResourceType.TOPIC, "t")) == "topic t"
    assert str(Resource(ResourceType.BROKER, "")) == "broker (all)"
