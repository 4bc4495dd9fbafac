"""What do columns cost at the far end of a client? A topic into Arrow columns, and Arrow columns into a topic.

By Andiron's client, whose answers become columns whole, and by confluent-kafka, whose messages are objects that a
loop takes apart and puts together: both with the same columns in hand, before or after. Told are the wall's
seconds, the process' CPU, librdkafka's threads among it, and the CPU of the loop's own thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import confluent_kafka
import pyarrow as pa

from andiron.client.blocking import Client, ColumnProducer, ColumnReader
from andiron.client.settings import ProducerSettings
from andiron.columns.schema import arrow_schema
from andiron.model.ids import TopicPartition
from loads import answer
from shapes import Shape, shape_named

AT_ONCE = 10_000
BATCH_BYTES = 1 << 20


def andiron_consume(port: int, topic: str, shape: Shape, records: int) -> Iterator[int]:
    with Client(f"127.0.0.1:{port}") as client:
        reader = ColumnReader(client, TopicPartition(topic, 0), 0, records, headers=shape.headers)
        yield 0
        with reader:
            for rows in reader:
                yield rows.num_rows


def confluent_consume(port: int, topic: str, shape: Shape, records: int) -> Iterator[int]:
    settings = {"group.id": "none", "enable.auto.commit": False, "fetch.queue.backoff.ms": 1}
    settings["queued.max.messages.kbytes"] = 64 << 10
    consumer = confluent_kafka.Consumer({"bootstrap.servers": f"127.0.0.1:{port}", **settings})
    consumer.list_topics(topic, timeout=10)
    yield 0
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    got = 0
    while got < records:
        messages = consumer.consume(min(AT_ONCE, records - got), timeout=10)
        got += columns_of(messages, shape.headers).num_rows
        yield len(messages)
    consumer.close()


def columns_of(messages: list[confluent_kafka.Message], headers: bool) -> pa.RecordBatch:
    """The columns of consumed messages, as a loop makes them."""
    keys, values, topics, partitions, offsets, times, kinds, lists = ([] for _ in range(8))
    for message in messages:
        keys.append(message.key())
        values.append(message.value())
        topics.append(message.topic())
        partitions.append(message.partition())
        offsets.append(message.offset())
        kind, time_ms = message.timestamp()
        times.append(time_ms * 1000)
        kinds.append(kind - 1)  # confluent-kafka counts from 1
        if headers:
            lists.append(message.headers())
    schema = arrow_schema(headers)
    columns = [keys, values, topics, partitions, offsets, times, kinds, lists][: len(schema)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def andiron_produce(port: int, topic: str, shape: Shape, records: int) -> Iterator[int]:
    tables = list(shape.tables(records, AT_ONCE))
    with Client(f"127.0.0.1:{port}") as client:
        producer = ColumnProducer(client, ProducerSettings(batch_size=BATCH_BYTES))
        client.topic(topic)
        yield 0
        for rows in tables:
            producer.send(topic, rows)
            yield rows.num_rows
        producer.flush()
        producer.close()


def confluent_produce(port: int, topic: str, shape: Shape, records: int) -> Iterator[int]:
    tables = list(shape.tables(records, AT_ONCE))
    settings = {"acks": "all", "linger.ms": 5, "batch.size": BATCH_BYTES, "batch.num.messages": AT_ONCE}
    settings |= {"queue.buffering.max.messages": 200_000, "queue.buffering.max.kbytes": 512 << 10}
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": f"127.0.0.1:{port}", "enable.idempotence": True, **settings}
    )
    producer.list_topics(topic, timeout=10)
    yield 0
    for rows in tables:
        send(producer, topic, rows, shape.headers)
        yield rows.num_rows
    assert producer.flush(60) == 0


def send(producer: confluent_kafka.Producer, topic: str, rows: pa.RecordBatch, headers: bool) -> None:
    """Rows as a loop sends them."""
    keys, values = (rows[name].to_pylist() for name in ("key", "value"))
    times = rows["timestamp"].cast(pa.int64()).to_pylist()
    lists = rows["headers"].to_pylist() if headers else [None] * len(keys)
    for key, value, at, each in zip(keys, values, times, lists, strict=True):
        pairs = each and [(header["key"], header["value"]) for header in each]
        while True:
            try:
                producer.produce(topic, value, key, 0, timestamp=at // 1000, headers=pairs)
                break
            except BufferError:
                producer.poll(0.01)
    producer.poll(0)


WAYS: dict[str, Callable[[int, str, Shape, int], Iterator[int]]] = {
    "andiron consume": andiron_consume,
    "confluent consume": confluent_consume,
    "andiron produce": andiron_produce,
    "confluent produce": confluent_produce,
}


def load(subject: str, way: str, port: int, topic: str, shape: str, records: int) -> dict[str, float]:
    """All of it once; the first yield says that what comes before the first record is done."""
    steps = WAYS[f"{subject} {way}"](port, topic, shape_named(shape), records)
    next(steps)
    wall, cpu, loop = time.perf_counter(), time.process_time(), time.thread_time()
    done = sum(steps)
    assert done == records, f"{done} of {records} records"
    return {
        "records": done,
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "loop_cpu": time.thread_time() - loop,
    }


if __name__ == "__main__":
    answer(load)
