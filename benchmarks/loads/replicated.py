"""How fast does a real client go against a cluster? librdkafka, idempotent, acks=all; and reading it back.

Values are text of ten letters in random order, so that a codec has something to do and something to gain. The
partitions take turns, some records each, as a sticky partitioner would have it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from loads import answer

MB = 1 << 20
POOL = 500  # different values
IN_A_ROW = 50
SETTINGS = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 5,
    "batch.size": 64 << 10,
    "batch.num.messages": 100_000,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 256 << 10,
    "log_level": 2,  # nodes come and go
}


def produce(
    bootstrap: str, topic: str, partitions: int, value_bytes: int, total_mb: float, codec: str, rate: int = 0
) -> dict[str, float]:
    settings = {"bootstrap.servers": bootstrap, "compression.codec": codec, **SETTINGS}
    producer, failed = Producer(settings), Failures()
    producer.list_topics(topic, timeout=10)
    chance, count = random.Random(7), int(total_mb * MB) // value_bytes
    values = [bytes(chance.choices(b"abcdefghij", k=value_bytes)) for _ in range(POOL)]
    started = time.perf_counter()
    for number in range(count):
        while True:
            try:
                value = values[number % POOL]
                producer.produce(
                    topic, value, partition=number // IN_A_ROW % partitions, on_delivery=failed.note
                )
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1000 == 0:
            producer.poll(0)
        if rate and number % 20 == 0:
            time.sleep(max(0.0, started + number / rate - time.perf_counter()))
    left = producer.flush(300)
    elapsed = time.perf_counter() - started
    assert left == failed.count == 0, (
        f"{left} records were not delivered, {failed.count} failed: {failed.why}"
    )
    return {"mb": count * value_bytes / MB, "seconds": elapsed, "records": count}


class Failures:
    """How many records failed, and why the last did."""

    def __init__(self) -> None:
        self.count, self.why = 0, ""

    def note(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.count, self.why = self.count + 1, str(error)


def consume(
    bootstrap: str, topic: str, partitions: int, value_bytes: int, total_mb: float, **_: Any
) -> dict[str, float]:
    settings = {"group.id": "none", "enable.auto.commit": False, "fetch.queue.backoff.ms": 1}
    consumer = Consumer({"bootstrap.servers": bootstrap, **settings})
    wanted, got = int(total_mb * MB) // value_bytes, 0
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    got += len(consumer.consume(1, timeout=20))
    started = time.perf_counter()
    while got < wanted:
        found = consumer.consume(min(10_000, wanted - got), timeout=10)
        if not found:
            break
        got += len(found)
    elapsed = time.perf_counter() - started
    consumer.close()
    assert got == wanted, f"{got} of {wanted} records came back"
    return {"mb": got * value_bytes / MB, "seconds": elapsed, "records": got}


def load(way: str, **arguments: Any) -> Mapping[str, float]:
    return {"produce": produce, "consume": consume}[way](**arguments)


if __name__ == "__main__":
    answer(load)
