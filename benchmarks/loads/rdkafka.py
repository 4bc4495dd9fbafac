"""How fast does a real client go? librdkafka through confluent-kafka, one partition, acks=1.

The client saturates its core before the broker does, so this says what a user of it sees, and stream.py what
the broker can do.
"""

from __future__ import annotations

import time

from confluent_kafka import Consumer, Producer, TopicPartition

from loads import answer

MB = 1 << 20


def produce(port: int, topic: str, value_bytes: int, batch_bytes: int, total_mb: int) -> dict[str, float]:
    settings = {"acks": 1, "linger.ms": 5, "batch.size": batch_bytes, "batch.num.messages": 100_000}
    settings |= {"queue.buffering.max.messages": 200_000, "queue.buffering.max.kbytes": 512 << 10}
    producer = Producer({"bootstrap.servers": f"127.0.0.1:{port}", **settings})
    producer.list_topics(topic, timeout=10)
    value, count = bytes(value_bytes), total_mb * MB // value_bytes
    started = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value, partition=0)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1000 == 0:
            producer.poll(0)
    left = producer.flush(60)
    elapsed = time.perf_counter() - started
    assert left == 0, f"{left} records were not delivered"
    return {"mb": count * value_bytes / MB, "seconds": elapsed, "records": count}


def consume(port: int, topic: str, value_bytes: int, batch_bytes: int, total_mb: int) -> dict[str, float]:
    settings = {"group.id": "none", "enable.auto.commit": False, "fetch.queue.backoff.ms": 1}
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{port}", **settings})
    wanted, got = total_mb * MB // value_bytes, 0
    consumer.assign([TopicPartition(topic, 0, 0)])
    got += len(consumer.consume(1, timeout=20))
    started = time.perf_counter()
    while got < wanted:
        found = consumer.consume(min(10_000, wanted - got), timeout=5)
        if not found:
            break
        got += len(found)
    elapsed = time.perf_counter() - started
    consumer.close()
    return {"mb": got * value_bytes / MB, "seconds": elapsed, "records": got}


def load(way: str, **arguments: int | str) -> dict[str, float]:
    return {"produce": produce, "consume": consume}[way](**arguments)  # type: ignore[arg-type]


if __name__ == "__main__":
    answer(load)
