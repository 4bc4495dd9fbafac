"""Kafka's own clients in Java, with the defaults they ship with."""

from __future__ import annotations

import atexit
import base64
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from peers.clients.base import ISOLATION, Client, Cluster, Record, Refused
from peers.jvm import JavaError, JavaPeer


class Java(Client):
    """KafkaProducer, KafkaConsumer and Admin in one virtual machine shared by all tests of a process."""

    name = "java"

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._peer = shared_peer()

    def call(self, call: str, **fields: Any) -> Any:
        """Any command of Peer.java, for what only Java can do."""
        try:
            return self._peer.call(call, bootstrap=self.bootstrap, **fields)
        except JavaError as error:
            raise Refused(error.code, str(error)) from error

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
        config: dict[str, Any] = {} if codec == "none" else {"compression.type": codec}
        if acks != "all":
            config["acks"] = acks
        if idempotent is not None:
            config["enable.idempotence"] = idempotent
        if any(len(record.value or b"") > 500_000 for record in records):
            config["max.request.size"] = 8_000_000
        sent = [_fields(record, partition) for record in records]
        return [offset for offset, _ in self.call("produce", topic=topic, records=sent, config=config)]

    def write_together(self, topic: str, records: Sequence[Record]) -> list[str | None]:
        """Write records in one batch; the error of each, as Java calls it."""
        config = {"linger.ms": 2_000, "batch.size": 1_000_000}
        sent = [_fields(record, 0) for record in records]
        errors: list[str | None] = self.call("produce_each", topic=topic, records=sent, config=config)
        return errors

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        config = {"auto.offset.reset": "none"}
        place = {"topic": topic, "partition": partition, "start": start, "end": end}
        return [_record(fields) for fields in self.call("consume", config=config, **place)]

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        config = {"auto.offset.reset": "none", "isolation.level": ISOLATION[committed]}
        place = {"topic": topic, "partition": partition}
        end = self.call("end_offset", config=config, **place)
        return [_record(fields) for fields in self.call("consume", config=config, start=0, end=end, **place)]

    def stable_offset(self, topic: str, partition: int) -> int:
        config = {"isolation.level": ISOLATION[True]}
        return int(self.call("end_offset", config=config, topic=topic, partition=partition))

    def create_topic(
        self,
        topic: str,
        partitions: int | None = None,
        replicas: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        wanted = {"partitions": partitions, "replicas": replicas, "configs": dict(configs or {})}
        self.call("create_topic", topic=topic, **wanted)

    def delete_topic(self, topic: str) -> None:
        self.call("delete_topic", topic=topic)

    def topics(self) -> set[str]:
        return set(self.call("topics"))

    def describe_topic(self, topic: str) -> dict[int, int]:
        found = self.call("describe_topic", topic=topic)["partitions"]
        return {int(number): partition["leader"] for number, partition in found.items()}

    def create_partitions(self, topic: str, count: int) -> None:
        self.call("create_partitions", topic=topic, count=count)

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        return _values(self.call("describe_configs", topic=topic))

    def describe_broker_configs(self, broker: int) -> dict[str, str | None]:
        return _values(self.call("describe_configs", broker=broker))

    def alter_configs(self, topic: str, configs: Mapping[str, str | None]) -> None:
        self.call("alter_configs", topic=topic, configs=dict(configs))

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        return int(self.call("delete_records", topic=topic, partition=partition, before=before))

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        return int(self.call("list_offset", topic=topic, partition=partition, spec=spec)[0])

    def describe_cluster(self) -> Cluster:
        found = self.call("describe_cluster")
        return Cluster(frozenset(found["brokers"]), found["controller"], found["id"])


@cache
def shared_peer() -> JavaPeer:
    peer = JavaPeer()
    atexit.register(peer.close)
    return peer


def _values(entries: dict[str, dict[str, str | None]]) -> dict[str, str | None]:
    return {name: entry["value"] for name, entry in entries.items()}


def _fields(record: Record, partition: int) -> dict[str, Any]:
    return {
        "partition": partition,
        "timestamp": record.timestamp,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [[name, _text(value)] for name, value in record.headers],
    }


def _record(fields: dict[str, Any]) -> Record:
    headers = tuple((name, _bytes(value)) for name, value in fields["headers"])
    return Record(
        _bytes(fields["key"]), _bytes(fields["value"]), headers, fields["timestamp"], fields["offset"]
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
