"""kafka-python, which is Python all the way down."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition, codec
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec
from kafka.errors import BrokerResponseError, KafkaError, OffsetOutOfRangeError

from peers.clients.base import ISOLATION, PATIENCE_S, Client, Cluster, Record, Refused

SPECS = {
    "earliest": OffsetSpec.EARLIEST,
    "latest": OffsetSpec.LATEST,
    "max_timestamp": OffsetSpec.MAX_TIMESTAMP,
}


class KafkaPython(Client):
    """kafka-python's producer, consumer and admin client; its codecs are extras that may be absent."""

    name = "kafka_python"
    codecs = (
        "none",
        *(each for each in ("gzip", "snappy", "lz4", "zstd") if getattr(codec, f"has_{each}")()),
    )

    @classmethod
    def writable(cls, records: Sequence[Record]) -> list[Record]:
        """It refuses to write a header without a value, though it reads one."""
        return [
            replace(record, headers=tuple(pair for pair in record.headers if pair[1] is not None))
            for record in records
        ]

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
        settings: dict[str, Any] = {"max_request_size": 8_000_000, "linger_ms": 5}
        settings["compression_type"] = None if codec == "none" else codec
        settings["acks"] = acks if acks == "all" else int(acks)
        if idempotent is not None or acks != "all":
            settings["enable_idempotence"] = bool(idempotent)
        with _telling():
            producer = KafkaProducer(bootstrap_servers=self.bootstrap, **settings)
            try:
                sent = [producer.send(topic, partition=partition, **_fields(record)) for record in records]
                producer.flush(PATIENCE_S)
                return [future.get(PATIENCE_S).offset for future in sent]
            finally:
                producer.close(5)

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        place = TopicPartition(topic, partition)
        with self._consumer() as consumer:
            return _read(consumer, place, start, end)

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        place = TopicPartition(topic, partition)
        with self._consumer(isolation_level=ISOLATION[committed]) as consumer:
            (start,) = consumer.beginning_offsets([place]).values()
            (end,) = consumer.end_offsets([place]).values()
            return _read(consumer, place, start, end)

    def stable_offset(self, topic: str, partition: int) -> int:
        place = TopicPartition(topic, partition)
        with self._consumer(isolation_level=ISOLATION[True]) as consumer:
            return int(consumer.end_offsets([place])[place])

    def create_topic(
        self,
        topic: str,
        partitions: int | None = None,
        replicas: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        wanted = {
            "num_partitions": partitions or -1,
            "replication_factor": replicas or -1,
            "configs": dict(configs or {}),
        }
        with self._admin() as admin:
            admin.create_topics({topic: wanted})

    def delete_topic(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def describe_topic(self, topic: str) -> dict[int, int]:
        with self._admin() as admin:
            (found,) = admin.describe_topics([topic])
        if found["error_code"]:
            raise Refused(found["error_code"], topic)
        return {partition["partition_index"]: partition["leader_id"] for partition in found["partitions"]}

    def create_partitions(self, topic: str, count: int) -> None:
        with self._admin() as admin:
            admin.create_partitions({topic: count})

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        return self._describe(ConfigResourceType.TOPIC, topic)

    def describe_broker_configs(self, broker: int) -> dict[str, str | None]:
        return self._describe(ConfigResourceType.BROKER, str(broker))

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        with self._admin() as admin:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic, dict(configs))
            (result,) = admin.alter_configs([resource], raise_on_unknown=False)["topic"].values()
        if result != "OK":  # told in words only: "[Error 40] InvalidConfigurationError: …"
            number = re.search(r"Error (\d+)", result)
            raise Refused(int(number[1]) if number else -1, result)

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        place = TopicPartition(topic, partition)
        with self._admin() as admin:
            return int(admin.delete_records({place: before})[place]["low_watermark"])

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        place = TopicPartition(topic, partition)
        asked = spec if isinstance(spec, int) else SPECS[spec]
        with self._admin() as admin:
            return int(admin.list_partition_offsets({place: asked})[place].offset)

    def describe_cluster(self) -> Cluster:
        with self._admin() as admin:
            found = admin.describe_cluster()
        brokers = frozenset(broker["broker_id"] for broker in found["brokers"])
        return Cluster(brokers, found["controller_id"], found["cluster_id"])

    def _describe(self, kind: ConfigResourceType, name: str) -> dict[str, str | None]:
        with self._admin() as admin:
            found = admin.describe_configs([ConfigResource(kind, name)], config_filter="all")
        return {key: entry["value"] for key, entry in found[kind.name.lower()][name].items()}

    @contextmanager
    def _consumer(self, **settings: Any) -> Iterator[KafkaConsumer]:
        with _telling():
            consumer = KafkaConsumer(
                bootstrap_servers=self.bootstrap,
                auto_offset_reset="none",
                enable_auto_commit=False,
                group_id=None,
                **settings,
            )
            try:
                yield consumer
            finally:
                consumer.close()

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        with _telling():
            admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
            try:
                yield admin
            finally:
                admin.close()


@contextmanager
def _telling() -> Iterator[None]:
    """Turn the library's errors into ours."""
    try:
        yield
    except OffsetOutOfRangeError as error:
        raise Refused(1, str(error)) from error
    except BrokerResponseError as error:
        raise Refused(error.errno, str(error)) from error
    except KafkaError as error:
        raise Refused(-1, f"{type(error).__name__}: {error}") from error


def _read(consumer: KafkaConsumer, place: TopicPartition, start: int, end: int) -> list[Record]:
    found: list[Record] = []
    consumer.assign([place])
    consumer.seek(place, start)
    until = time.monotonic() + PATIENCE_S
    while consumer.position(place) < end and time.monotonic() < until:
        for records in consumer.poll(500).values():
            found += map(_record, records)
    return found


def _fields(record: Record) -> dict[str, Any]:
    fields = {"key": record.key, "value": record.value, "headers": list(record.headers)}
    return fields | ({} if record.timestamp is None else {"timestamp_ms": record.timestamp})


def _record(record: Any) -> Record:
    headers = tuple((name, value) for name, value in record.headers)
    return Record(record.key, record.value, headers, record.timestamp, record.offset)
