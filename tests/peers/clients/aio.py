"""aiokafka, for programs that live in an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import BrokerResponseError, KafkaError

from peers.clients.base import ISOLATION, PATIENCE_S, Client, Cluster, Record, Refused

READING = {"auto_offset_reset": "none", "enable_auto_commit": False}
Answer = TypeVar("Answer")


class AioKafka(Client):
    """aiokafka's producer, consumer and admin client, each call in an event loop of its own."""

    name = "aiokafka"

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
        settings: dict[str, Any] = {"acks": acks if acks == "all" else int(acks), "linger_ms": 5}
        settings["compression_type"] = None if codec == "none" else codec
        settings["max_request_size"] = 8_000_000
        if idempotent is not None:
            settings["enable_idempotence"] = idempotent
        return _run(self._write(topic, records, partition, settings))

    async def _write(
        self, topic: str, records: Sequence[Record], partition: int, settings: dict[str, Any]
    ) -> list[int]:
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap, **settings) as producer:
            sent = [await producer.send(topic, partition=partition, **_fields(record)) for record in records]
            await producer.flush()
            places = await asyncio.gather(*sent)
        return [-1 if place is None else place.offset for place in places]

    def read(self, topic: str, *, partition: int = 0, start: int = 0, end: int) -> list[Record]:
        return _run(self._read(TopicPartition(topic, partition), start, end))

    async def _read(self, place: TopicPartition, start: int, end: int) -> list[Record]:
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **READING) as consumer:
            return await _read(consumer, place, start, end)

    def read_all(self, topic: str, *, partition: int = 0, committed: bool) -> list[Record]:
        return _run(self._read_all(TopicPartition(topic, partition), ISOLATION[committed]))

    async def _read_all(self, place: TopicPartition, isolation: str) -> list[Record]:
        settings = {**READING, "isolation_level": isolation}
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **settings) as consumer:
            (start,) = (await consumer.beginning_offsets([place])).values()
            (end,) = (await consumer.end_offsets([place])).values()
            return await _read(consumer, place, start, end)

    def stable_offset(self, topic: str, partition: int) -> int:
        return _run(self._stable_offset(TopicPartition(topic, partition)))

    async def _stable_offset(self, place: TopicPartition) -> int:
        settings = {**READING, "isolation_level": ISOLATION[True]}
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **settings) as consumer:
            return int((await consumer.end_offsets([place]))[place])

    def create_topic(
        self,
        topic: str,
        partitions: int | None = None,
        replicas: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        new = NewTopic(topic, partitions or -1, replicas or -1, topic_configs=dict(configs or {}))
        self._refuse(self._ask("create_topics", [new]).topic_errors)

    def delete_topic(self, topic: str) -> None:
        self._refuse(self._ask("delete_topics", [topic]).topic_error_codes)

    def topics(self) -> set[str]:
        return set(self._ask("list_topics"))

    def describe_topic(self, topic: str) -> dict[int, int]:
        (found,) = self._ask("describe_topics", [topic])
        if found["error_code"]:
            raise Refused(found["error_code"], topic)
        return {partition["partition"]: partition["leader"] for partition in found["partitions"]}

    def create_partitions(self, topic: str, count: int) -> None:
        self._refuse(self._ask("create_partitions", {topic: NewPartitions(count)}).topic_errors)

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        (answer,) = self._ask("describe_configs", [ConfigResource(ConfigResourceType.TOPIC, topic)])
        ((code, message, _, _, entries),) = answer.resources
        if code:
            raise Refused(code, message)
        return {entry[0]: entry[1] for entry in entries}

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        """The older AlterConfigs: what is not named goes back to its default."""
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=dict(configs))
        (answer,) = self._ask("alter_configs", [resource])
        for code, message, *_ in answer.resources:
            if code:
                raise Refused(code, message)

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        place = TopicPartition(topic, partition)
        return int(self._ask("delete_records", {place: RecordsToDelete(before)})[place])

    def list_offset(self, topic: str, partition: int, spec: str | int) -> int:
        return _run(self._list_offset(TopicPartition(topic, partition), spec))

    async def _list_offset(self, place: TopicPartition, spec: str | int) -> int:
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap) as consumer:
            consumer.assign([place])
            if spec == "earliest":
                return int((await consumer.beginning_offsets([place]))[place])
            if spec == "latest":
                return int((await consumer.end_offsets([place]))[place])
            found = (await consumer.offsets_for_times({place: spec}))[place]
            return -1 if found is None else int(found.offset)

    def describe_cluster(self) -> Cluster:
        found = self._ask("describe_cluster")
        brokers = frozenset(broker["node_id"] for broker in found["brokers"])
        return Cluster(brokers, found["controller_id"], found.get("cluster_id"))

    def _ask(self, call: str, *arguments: Any) -> Any:
        async def ask() -> Any:
            async with self._admin() as admin:
                return await getattr(admin, call)(*arguments)

        return _run(ask())

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    @staticmethod
    def _refuse(answers: Sequence[tuple[Any, ...]]) -> None:
        for topic, code, *message in answers:
            if code:
                raise Refused(code, f"{topic} {message}")


def _run(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except BrokerResponseError as error:
        raise Refused(error.errno, str(error)) from error
    except KafkaError as error:
        raise Refused(getattr(error, "errno", -1), f"{type(error).__name__}: {error}") from error


async def _read(consumer: AIOKafkaConsumer, place: TopicPartition, start: int, end: int) -> list[Record]:
    found: list[Record] = []
    consumer.assign([place])
    consumer.seek(place, start)
    until = time.monotonic() + PATIENCE_S
    while await consumer.position(place) < end and time.monotonic() < until:
        for records in (await consumer.getmany(timeout_ms=500)).values():
            found += map(_record, records)
    return found


def _fields(record: Record) -> dict[str, Any]:
    return {
        "key": record.key,
        "value": record.value,
        "headers": list(record.headers),
        "timestamp_ms": record.timestamp,
    }


def _record(record: Any) -> Record:
    headers = tuple((name, value) for name, value in record.headers)
    return Record(record.key, record.value, headers, record.timestamp, record.offset)
