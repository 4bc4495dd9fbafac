"""aiokafka in transactions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from peers.transactors.program import PATIENCE_S, Input, Program

Answer = TypeVar("Answer")


class AioKafka(Program):
    """aiokafka's producer and consumer in a loop that runs on beside the steps."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def open(self, bootstrap: str, id: str, timeout_ms: int) -> None:
        async def start() -> AIOKafkaProducer:
            settings = {"transactional_id": id, "transaction_timeout_ms": timeout_ms}
            producer = AIOKafkaProducer(bootstrap_servers=bootstrap, **settings)
            await producer.start()
            return producer

        self.producer = self.do(start())

    def begin(self) -> None:
        self.do(self.producer.begin_transaction())

    def send(self, topic: str, partition: int, values: Sequence[bytes], wait: bool) -> list[int]:
        async def send() -> list[int]:
            sent = [await self.producer.send(topic, value, partition=partition) for value in values]
            return [(await each).offset for each in sent] if wait else []

        return self.do(send())

    def offsets(self, bootstrap: str, group: str, topic: str, offsets: dict[int, int]) -> None:
        places = {TopicPartition(topic, number): offset for number, offset in offsets.items()}
        self.do(self.producer.send_offsets_to_transaction(places, group))

    def commit(self) -> None:
        self.do(self.producer.commit_transaction())

    def abort(self) -> None:
        self.do(self.producer.abort_transaction())

    def join(self, bootstrap: str, topic: str, group: str, instance: str, most: int) -> None:
        async def start() -> AIOKafkaConsumer:
            consumer = AIOKafkaConsumer(
                topic,
                bootstrap_servers=bootstrap,
                group_id=group,
                group_instance_id=instance,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                isolation_level="read_committed",
                max_poll_records=most,
            )
            await consumer.start()
            return consumer

        self.consumer = self.do(start())
        self.topic, self.group = topic, group

    def poll(self, wait_ms: int) -> list[Input]:
        batches = self.do(self.consumer.getmany(timeout_ms=wait_ms)).values()
        return [Input(record.partition, record.offset, record.value) for batch in batches for record in batch]

    def send_positions(self, positions: dict[int, int]) -> None:
        """It speaks an older TxnOffsetCommit, in which a group has a name and no members."""
        self.offsets("", self.group, self.topic, positions)

    def do(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)


if __name__ == "__main__":
    AioKafka().run()
