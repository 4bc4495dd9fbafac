"""aiokafka's idempotent producer."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from aiokafka import AIOKafkaProducer
from aiokafka.structs import RecordMetadata

from chaos.writers.base import DELIVERY_MS, Writer

UNDER_WAY_MAX = 2000

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # faults are what this is about


class AioWriter(Writer):
    """One request a broker at a time; records of a partition are gathered while one is under way."""

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap,
            enable_idempotence=True,
            linger_ms=5,
            request_timeout_ms=DELIVERY_MS,  # it gives a record up after this, and not only a request
            metadata_max_age_ms=5_000,
        )
        await producer.start()
        loop = asyncio.get_running_loop()
        began, count = loop.time(), 0
        under_way: set[asyncio.Future[RecordMetadata]] = set()
        while not self.is_over:
            count += 1
            await asyncio.sleep(max(0.0, began + count / self.rate - loop.time()))
            if len(under_way) > UNDER_WAY_MAX:
                continue
            partition = count % self.partitions
            number = self.ledger.next(partition)
            sent = await producer.send(self.topic, self.ledger.value(number), partition=partition)
            under_way.add(sent)
            sent.add_done_callback(under_way.discard)
            sent.add_done_callback(partial(self._answered, partition, number))
        if under_way:
            await asyncio.wait(under_way, timeout=DELIVERY_MS / 1000)
        await producer.stop()

    def _answered(self, partition: int, number: int, sent: asyncio.Future[RecordMetadata]) -> None:
        if sent.cancelled():
            return
        error = sent.exception()
        if error is not None:
            self.ledger.refused(partition, number, repr(error))
        else:
            self.ledger.acknowledged(partition, number, sent.result().offset)
