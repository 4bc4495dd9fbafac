"""A cluster of one controller and some brokers that are only registered.

`run` does what broker/shards.py does: decide, append, replay, answer.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.node_settings import NodeSettings
from andiron.controller.brokers import RegisterBroker
from andiron.controller.controller import BeginCluster, Controller
from andiron.controller.features import SUPPORTED
from andiron.controller.image import Image, PartitionImage
from andiron.controller.records import MetadataRecord, encode_record
from andiron.model.ids import Millis, NodeId, Offset
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

ONE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
}


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
        self.run(BeginCluster())
        for number in range(1, brokers + 1):
            self.register(number, fenced=number in fenced, rack=(racks or {}).get(number))

    @property
    def image(self) -> Image:
        return self.controller.image

    def run(self, request: Any) -> Any:
        """The response to a request, once its records are in the log and replayed."""
        decision = self.controller.decide(request, Millis(0))
        self.append(decision.records)
        return decision.response

    def append(self, records: list[MetadataRecord]) -> None:
        for record in records:
            self.controller.replay(record, Offset(len(self.log)))
            self.log.append(encode_record(record))

    def register(
        self, number: int, *, run: int = 1, fenced: bool = False, rack: str | None = None, clean: bool = False
    ) -> int:
        """Register a broker in its `run`-th life; returns its epoch."""
        request = RegisterBroker(
            broker_id=NodeId(number),
            incarnation=bytes([number] * 15 + [run]),
            endpoints=(("PLAINTEXT", f"host-{number}", 9092),),
            features=SUPPORTED,
            rack=rack,
            log_dirs=(directory(number),),
            fenced=fenced,
            clean=clean,
        )
        epoch: int = self.run(request)
        return epoch

    def create(self, name: str, partitions: int = 1, replicas: int = 1, **configs: str) -> Any:
        """The one result of creating one topic."""
        given = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
        topic = CreatableTopic(name, partitions, replicas, [], given)
        return self.run(CreateTopicsRequest([topic])).topics[0]

    def partition(self, topic: str, number: int = 0) -> PartitionImage:
        return self.image.topics[topic].partitions[number]


def directory(broker: int) -> bytes:
    """The id of a broker's only log directory."""
    return bytes([broker] * 16)
