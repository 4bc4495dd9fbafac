"""Descriptions of settings, offsets, log directories and the cluster, as values for admins.

The messages of the protocol have a field for every version and their errors inside. These have what is
left when the answer is known and there was no error.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from andiron.client.core.metadata import Broker
from andiron.model.ids import TopicPartition
from andiron.model.layers import Source
from andiron.wire.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsResult
from andiron.wire.messages.describe_log_dirs import DescribeLogDirsResult

EARLIEST, LATEST, MAX_TIMESTAMP = (
    -2,
    -1,
    -3,
)  # in place of a timestamp: ends of the log, and its newest record


class ResourceType(enum.IntEnum):
    """Types of config resources, with Kafka's numbers."""

    TOPIC = 2
    BROKER = 4


class Resource(NamedTuple):
    """A topic by its name, or a broker by its id; the broker "" stands for all."""

    type: ResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name or '(all)'}"


def source_name(number: int) -> str:
    """The name of a config source; a later Kafka may have others."""
    return Source(number).name.lower() if number in _SOURCES else f"source_{number}"


_SOURCES = frozenset(map(int, Source))


class Synonym(NamedTuple):
    """A config source with a value for a setting."""

    name: str
    value: str | None
    source: int


class Config(NamedTuple):
    """One setting of a resource; `source` is a number of model.layers.Source, or one that we do not know."""

    name: str
    value: str | None
    source: int
    read_only: bool
    sensitive: bool
    type: int
    documentation: str | None
    synonyms: list[Synonym]

    @property
    def is_default(self) -> bool:
        return self.source == Source.DEFAULT

    @property
    def source_name(self) -> str:
        """Where the value comes from: topic, dynamic_broker, dynamic_default, static or default."""
        return source_name(self.source)

    @classmethod
    def of(cls, told: DescribeConfigsResourceResult) -> Config:
        """As a broker told it."""
        synonyms = [Synonym(each.name, each.value, each.source) for each in told.synonyms]
        return cls(
            told.name,
            told.value,
            told.config_source,
            told.read_only,
            told.is_sensitive,
            told.config_type,
            told.documentation,
            synonyms,
        )


class OffsetAt(NamedTuple):
    """The answer to "which offset": -1 with a timestamp of -1 where no record is that new."""

    offset: int
    timestamp: int
    epoch: int


class LogDir(NamedTuple):
    """A log directory of a broker; `sizes` are bytes by partition, totals are -1 where not told."""

    path: str
    sizes: dict[TopicPartition, int]
    total_bytes: int
    usable_bytes: int

    @classmethod
    def of(cls, told: DescribeLogDirsResult) -> LogDir:
        """As a broker told it."""
        sizes = {
            TopicPartition(topic.name, each.partition_index): each.partition_size
            for topic in told.topics
            for each in topic.partitions
            if not each.is_future_key
        }
        return cls(told.log_dir, sizes, told.total_bytes, told.usable_bytes)


class Cluster(NamedTuple):
    """The cluster's id, controller and brokers."""

    id: str
    controller_id: int
    brokers: list[Broker]


def configs_of(result: DescribeConfigsResult) -> list[Config]:
    """The settings of one resource, by name."""
    return sorted(map(Config.of, result.configs), key=lambda config: config.name)
