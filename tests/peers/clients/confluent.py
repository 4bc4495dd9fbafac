"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from peers.clients.base import ISOLATION, PATIENCE_S, Client, Cluster, Record, Refused

OFFSET_OUT_OF_RANGE = 1
BATCH_RECORDS = 100  # many small batches try more of a broker than a few large ones
SPECS = {
    "earliest": OffsetSpec.earliest,
    "latest": OffsetSpec.latest,
    "max_timestamp": OffsetSpec.max_timestamp,
}


class Confluent(Client):
    """librdkafka's producer, consumer and admin client."""

    name = "confluent"

    def write(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        partition: int = 0,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool | None = None,
    ) -> list[int]:
        settings: dict[str, Any] = {"compression.type": codec, "acks": acks, "message.max.bytes": 8_000_000}
        settings |= {"linger.ms": 5, "batch.num.messages": BATCH_RECORDS}
        if idempotent is not None:
            settings["enable.idempotence"] = idempotent
        producer = Producer(self._config(settings))
        offsets, errors = [], []

        def delivered(error: KafkaError | None, message: Message) -> None:
            errors.append(error) if error else offsets.append(message.offset())

        for record in records:
            producer.produce(topic, partition=partition, on_delivery=delivered, **_fields(record))
            producer.poll(0)
        left = producer.flush(PATIENCE_S)
        if errors or left:
            raise _refused(errors[0] if errors else KafkaError(KafkaError._TIMED_OUT))
        return [-1 if offset is None else offset for offset in offsets]

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        settings = {"group.id": "none", "enable.auto.commit": False, "auto.offset.reset": "error"}
        consumer = Consumer(self._config(settings))
        found: list[Record] = []
        try:
            consumer.assign([TopicPartition(topic, partition, start)])
            until = time.monotonic() + PATIENCE_S
            while (not found or found[-1].offset + 1 < end) and time.monotonic() < until:  # type: ignore[operator]
                for message in consumer.consume(1000, timeout=0.5):
                    if (error := message.error()) is not None:
                        raise _refused(error)
                    found.append(_record(message))
        finally:
            consumer.close()
        return found

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        settings = {"group.id": "none", "enable.auto.commit": False, "enable.partition.eof": True}
        settings |= {
            "isolation.level": ISOLATION[committed],
            "fetch.wait.max.ms": 10,
            "auto.offset.reset": "earliest",
        }
        consumer = Consumer(self._config(settings))
        found: list[Record] = []
        try:
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(PATIENCE_S)) is not None:
                error = message.error()
                if error is None:
                    found.append(_record(message))
                elif error.code() == KafkaError._PARTITION_EOF:
                    return found
                else:
                    raise _refused(error)
        finally:
            consumer.close()
        raise _refused(KafkaError(KafkaError._TIMED_OUT))

    def create_topic(
        self,
        topic: str,
        partitions: int | None = None,
        replicas: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        new = NewTopic(topic, partitions or -1, replicas or -1, config=dict(configs or {}))
        _result(self._admin.create_topics([new])[topic])

    def delete_topic(self, topic: str) -> None:
        _result(self._admin.delete_topics([topic])[topic])

    def topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=PATIENCE_S).topics)

    def describe_topic(self, topic: str) -> dict[int, int]:
        found = self._admin.list_topics(topic, timeout=PATIENCE_S).topics[topic]
        if found.error is not None:
            raise _refused(found.error)
        return {number: partition.leader for number, partition in found.partitions.items()}

    def create_partitions(self, topic: str, count: int) -> None:
        _result(self._admin.create_partitions([NewPartitions(topic, count)])[topic])

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        return self._describe(ConfigResource(ConfigResource.Type.TOPIC, topic))

    def describe_broker_configs(self, broker: int) -> dict[str, str | None]:
        return self._describe(ConfigResource(ConfigResource.Type.BROKER, str(broker)))

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        changes = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=changes)
        _result(self._admin.incremental_alter_configs([resource])[resource])

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        place = TopicPartition(topic, partition, before)
        return int(_result(self._admin.delete_records([place])[place]).low_watermark)

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        asked = OffsetSpec.for_timestamp(spec) if isinstance(spec, int) else SPECS[spec]()
        return self._offset(TopicPartition(topic, partition), asked, IsolationLevel.READ_UNCOMMITTED)

    def stable_offset(self, topic: str, partition: int) -> int:
        return self._offset(
            TopicPartition(topic, partition), OffsetSpec.latest(), IsolationLevel.READ_COMMITTED
        )

    def _offset(self, place: TopicPartition, asked: OffsetSpec, level: IsolationLevel) -> int:
        return int(_result(self._admin.list_offsets({place: asked}, isolation_level=level)[place]).offset)

    def describe_cluster(self) -> Cluster:
        found = _result(self._admin.describe_cluster())
        return Cluster(frozenset(node.id for node in found.nodes), found.controller.id, found.cluster_id)

    def _describe(self, resource: ConfigResource) -> dict[str, str | None]:
        entries = _result(self._admin.describe_configs([resource])[resource])
        return {name: entry.value for name, entry in entries.items()}

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient(self._config({}))

    def _config(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"bootstrap.servers": self.bootstrap, **settings}


def _fields(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = {"key": record.key, "value": record.value}
    if record.headers:
        fields["headers"] = list(record.headers)
    if record.timestamp is not None:
        fields["timestamp"] = record.timestamp
    return fields


def _record(message: Message) -> Record:
    headers: Any = tuple(message.headers() or ())
    return Record(message.key(), message.value(), headers, message.timestamp()[1], message.offset())


def _result(future: Future[Any]) -> Any:
    try:
        return future.result(PATIENCE_S)
    except KafkaException as error:
        raise _refused(error.args[0]) from error


def _refused(error: KafkaError) -> Refused:
    """librdkafka wraps an offset out of range into an error of its own when it is told not to reset."""
    code = OFFSET_OUT_OF_RANGE if error.code() == KafkaError._AUTO_OFFSET_RESET else error.code()
    return Refused(code, error.str())
