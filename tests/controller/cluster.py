"""A cluster of one controller and some brokers that are only registered.

`run` does what broker/coordinators/shard.py does: decide, append, replay, answer.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.broker_registrations import registration
from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.features import SUPPORTED
from andiron.controller.image import Image, PartitionImage
from andiron.controller.records import (
    BrokerEndpoint,
    BrokerFeature,
    MetadataRecord,
    RegisterBrokerRecord,
    encode_record,
)
from andiron.model.ids import Millis, NodeId, Offset
from andiron.model.machine import LogLoaded, TimePassed
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    BrokerState,
)
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from andiron.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

ONE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
}

# The settings with which a cluster begins: with ELR comes one number for all brokers.
AT_FIRST = {(4, ""): {"min.insync.replicas": "1"}}


class Cluster:
    """A controller, its log, and brokers 1, 2, … of which some may be fenced."""

    def __init__(
        self,
        brokers: int = 1,
        *,
        fenced: tuple[int, ...] = (),
        racks: dict[int, str] | None = None,
        seed: int = 7,
        **given: str,
    ) -> None:
        named = {name.replace("_", "."): value for name, value in given.items()}
        self.settings = NodeSettings.load({**ONE_NODE, **named}).for_controller()
        self.controller = Controller(self.settings, seed)
        self.log: list[bytes] = []
        self.now = 0
        self.run(BeginCluster())
        for number in range(1, brokers + 1):
            self.register(number, fenced=number in fenced, rack=(racks or {}).get(number))

    @property
    def image(self) -> Image:
        return self.controller.image

    def run(self, request: Any) -> Any:
        """The response to a request, once its records are in the log and replayed."""
        decision = self.controller.decide(request, Millis(self.now))
        self.append(decision.records)
        return decision.response

    def append(self, records: list[MetadataRecord]) -> None:
        for record in records:
            self.controller.replay(record, Offset(len(self.log)))
            self.log.append(encode_record(record))

    def register(
        self, number: int, *, run: int = 1, fenced: bool = False, rack: str | None = None, clean: bool = False
    ) -> int:
        """Register a broker for the `run`-th time, and let it in at once unless `fenced`; returns its epoch."""
        known, incarnation = self.image.brokers.get(NodeId(number)), bytes([number] * 15 + [run])
        if known is not None and known.incarnation == incarnation:
            return known.epoch
        record = RegisterBrokerRecord(
            broker_id=number,
            incarnation_id=incarnation,
            broker_epoch=self.image.next_offset,
            end_points=[BrokerEndpoint("PLAINTEXT", f"host-{number}", 9092, 0)],
            features=[BrokerFeature(name, least, most) for name, (least, most) in SUPPORTED.items()],
            rack=rack,
            fenced=fenced,
            log_dirs=[directory(number)],
        )
        self.append(registration(record, self.image, self.settings, clean=clean))
        return record.broker_epoch

    def allocate_producer_ids(self, number: int) -> range:
        """The next block of producer ids, for a broker."""
        epoch = self.image.brokers[NodeId(number)].epoch
        block = self.run(AllocateProducerIdsRequest(number, epoch))
        return range(block.producer_id_start, block.producer_id_start + block.producer_id_len)

    # ── as brokers of their own do it ────────────────────────────────────────────────

    def ask_in(self, number: int, *, run: int = 1, **fields: Any) -> int:
        """Register a broker over the wire for the `run`-th time; returns its epoch. It is fenced yet."""
        given = {
            "broker_id": number,
            "incarnation_id": bytes([number] * 15 + [run]),
            "listeners": [Listener("PLAINTEXT", f"host-{number}", 9092)],
            "features": [Feature(name, least, most) for name, (least, most) in SUPPORTED.items()],
            "log_dirs": [directory(number)],
        }
        epoch: int = self.run(BrokerRegistrationRequest(**{**given, **fields})).broker_epoch
        return epoch

    def beat(self, number: int, **fields: Any) -> BrokerHeartbeatResponse:
        """A heartbeat of a broker that has read all there is."""
        given = {"broker_epoch": self.image.brokers[NodeId(number)].epoch}
        given |= {"current_metadata_offset": len(self.log) - 1}
        response: BrokerHeartbeatResponse = self.run(BrokerHeartbeatRequest(number, **{**given, **fields}))
        return response

    def join(self, number: int, *, run: int = 1, **fields: Any) -> None:
        """Register a broker and let it in."""
        self.ask_in(number, run=run, **fields)
        assert not self.beat(number).is_fenced

    def crash(self, number: int) -> None:
        """A broker falls silent, the others do not, and its session runs out."""
        for _ in range(4):
            self.now += 3_000
            for other in self.image.brokers.values():
                if other.id != number and not other.fenced:
                    self.beat(other.id)
            self.wake()

    def wake(self) -> None:
        """Let the controller do what is due by now."""
        while self.controller.next_deadline() <= self.now:
            assert self.run(TimePassed()) is None

    def alter(
        self, topic: str, isr: list[int], number: int = 0, *, by: int | None = None, **fields: Any
    ) -> Any:
        """A partition's leader says who is in sync; the answer on that partition."""
        partition, found = self.partition(topic, number), self.image.topics[topic]
        leader = partition.leader if by is None else by
        given = {
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
            "new_isr_with_epochs": [BrokerState(each) for each in isr],
        }
        part = AlterPartitionRequestPartition(number, **{**given, **fields})
        epoch = self.image.brokers[NodeId(leader)].epoch
        request = AlterPartitionRequest(leader, epoch, [AlterPartitionRequestTopic(found.id, [part])])
        return self.run(request).topics[0].partitions[0]

    # ── topics ───────────────────────────────────────────────────────────────────────

    def place(self, name: str, *assignments: list[int], **configs: str) -> None:
        """Create a topic whose replicas are placed by hand."""
        given = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        placed = [CreatableReplicaAssignment(number, each) for number, each in enumerate(assignments)]
        result = self.run(CreateTopicsRequest([CreatableTopic(name, -1, -1, placed, given)])).topics[0]
        assert result.error_code == 0, result.error_message

    def create(self, name: str, partitions: int = 1, replicas: int = 1, **configs: str) -> Any:
        """The one result of creating one topic."""
        given = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        topic = CreatableTopic(name, partitions, replicas, [], given)
        return self.run(CreateTopicsRequest([topic])).topics[0]

    def partition(self, topic: str, number: int = 0) -> PartitionImage:
        return self.image.topics[topic].partitions[number]


def joined(brokers: int = 3, **given: str) -> Cluster:
    """A controller that has taken over, and brokers that have joined it and are heard of."""
    cluster = Cluster(0, **given)
    cluster.run(LogLoaded())
    for number in range(1, brokers + 1):
        cluster.join(number)
    return cluster


def directory(broker: int) -> bytes:
    """The id of a broker's only log directory."""
    return bytes([broker] * 16)
