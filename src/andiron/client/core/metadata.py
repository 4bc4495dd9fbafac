"""A client's metadata: the brokers, and the leader of each partition with its leader epoch.

    Metadata response ──▶ brokers    id → address
                          topics     name → id, partitions: leader, its epoch, replicas, ISR

Knowledge gets old: a leader moves and nobody tells. A broker that is asked for what it does not lead says
so, and the client asks for metadata again. Answers may also come from a broker that is behind the others,
so a leader of an older epoch never replaces one of a newer epoch, as long as the topic is the same (by
its id).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from typing import NamedTuple

from andiron.client.core.addresses import Address
from andiron.model.errors import ErrorCode, Refused
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.wire.messages.metadata import MetadataPartition, MetadataResponse, MetadataTopic

NO_LEADER = -1


class Broker(NamedTuple):
    """A broker, and where it is reached."""

    id: int
    address: Address
    rack: str | None = None


class Partition(NamedTuple):
    """One partition's replicas; `leader` is -1 while there is none."""

    number: int
    leader: int
    epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


class Topic(NamedTuple):
    """A topic and its partitions, in order."""

    name: str
    id: bytes
    internal: bool
    partitions: list[Partition]

    @property
    def id_text(self) -> str:
        """The id as Kafka's tools write it."""
        return urlsafe_b64encode(self.id).rstrip(b"=").decode()

    def writable(self) -> list[int]:
        """The partitions that have a leader."""
        return [each.number for each in self.partitions if each.leader != NO_LEADER]

    def names(self) -> list[TopicPartition]:
        return [TopicPartition(self.name, each.number) for each in self.partitions]


class ClusterMetadata:
    """The metadata of the latest Metadata responses."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.controller_id = NO_LEADER
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[str, Topic] = {}
        self.errors: dict[str, ErrorCode] = {}  # the errors of topics that were asked for

    def update(self, response: MetadataResponse, asked: Iterable[str] = ()) -> None:
        """Take in an answer; topics that it does not mention stay as they are known, unless `asked` for."""
        self.cluster_id = response.cluster_id
        self.controller_id = response.controller_id
        self.brokers = {
            each.node_id: Broker(each.node_id, Address(each.host, each.port), each.rack)
            for each in response.brokers
        }
        for name in asked:
            self.errors[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for topic in response.topics:
            self._take(topic)
        for name in asked:
            if name in self.errors:
                self.topics.pop(name, None)

    def topic(self, name: str) -> Topic:
        """A topic; what the brokers said where there is none."""
        if name in self.topics:
            return self.topics[name]
        code = self.errors.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            # Not retriable here, whatever the code is elsewhere: this is the metadata itself.
            raise Refused(code, f"there is no topic {name!r}")
        raise code.error(f"{name}: {code.meaning}")

    def partition(self, partition: TopicPartition) -> Partition:
        """One partition of a topic."""
        partitions = self.topic(partition.topic).partitions
        if not 0 <= partition.partition < len(partitions):
            raise Refused(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"{partition.topic} has partitions 0 to {len(partitions) - 1}, not {partition.partition}",
            )
        return partitions[partition.partition]

    def leader(self, partition: TopicPartition) -> int:
        """The broker to ask about a partition."""
        known = self.partition(partition)
        if known.leader not in self.brokers:
            raise ErrorCode.LEADER_NOT_AVAILABLE.error(f"{partition} has no leader at the moment")
        return known.leader

    def _take(self, told: MetadataTopic) -> None:
        name = told.name or ""
        code = ErrorCode.of(told.error_code)
        if code is not ErrorCode.NONE:
            self.errors[name] = code
            return
        self.errors.pop(name, None)
        known = self.topics.get(name)
        same = known is not None and known.id == told.topic_id
        before = {each.number: each for each in known.partitions} if known and same else {}
        partitions = [
            _newer(_partition(each), before.get(each.partition_index))
            for each in sorted(told.partitions, key=lambda each: each.partition_index)
        ]
        self.topics[name] = Topic(name, told.topic_id or NO_TOPIC_ID, told.is_internal, partitions)


def _partition(told: MetadataPartition) -> Partition:
    return Partition(
        told.partition_index,
        told.leader_id,
        told.leader_epoch,
        told.replica_nodes,
        told.isr_nodes,
        told.offline_replicas,
    )


def _newer(told: Partition, known: Partition | None) -> Partition:
    if known is None or told.epoch < 0 or told.epoch >= known.epoch:
        return told
    return known
