"""How long until a record is acknowledged by all in-sync replicas, at a steady rate below what the cluster can do?

librdkafka, idempotent, acks=all, no linger, records in turn to each partition. The next is due at its time whether or
not the last was acknowledged, and counts from then: a stall is felt by all that were due in it.
"""

from __future__ import annotations

import time
from functools import partial

from confluent_kafka import KafkaError, Message, Producer

from loads import answer, percentiles

WARM_UP_S = 1.0


def load(
    bootstrap: str, topic: str, partitions: int, value_bytes: int, rate: int, seconds: float
) -> dict[str, float]:
    settings = {"acks": "all", "enable.idempotence": True, "linger.ms": 0}
    producer = Producer({"bootstrap.servers": bootstrap, **settings})
    producer.list_topics(topic, timeout=10)
    times: list[tuple[float, float]] = []
    value, started = bytes(value_bytes), time.perf_counter()
    count = int((seconds + WARM_UP_S) * rate)
    for number in range(count):
        due = started + number / rate
        while (ahead := due - time.perf_counter()) > 0:
            producer.poll(ahead)
        producer.produce(topic, value, partition=number % partitions, on_delivery=partial(done, times, due))
        producer.poll(0)
    left = producer.flush(60)
    assert not left, f"{left} records were not acknowledged"
    assert len(times) == count, f"{count - len(times)} records failed"
    counted = [elapsed for due, elapsed in times if due >= started + WARM_UP_S]
    return {"records": len(counted), **percentiles(counted)}


def done(times: list[tuple[float, float]], due: float, error: KafkaError | None, message: Message) -> None:
    if error is None:
        times.append((due, time.perf_counter() - due))


if __name__ == "__main__":
    answer(load)
