"""Columns over a real broker: what others wrote is read, others read what was written, and tables are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import duckdb
import polars
import pyarrow as pa
import pytest

import andiron
from andiron.client.blocking import Client, ColumnProducer, Transaction
from andiron.client.settings import ProducerSettings
from peers import clients
from peers.clients.base import CODECS, Record
from peers.process import Server

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@pytest.fixture
def client(node: Server) -> Iterator[Client]:
    with Client(node.bootstrap) as made:
        yield made


def sample(count: int) -> list[Record]:
    return [
        Record(
            b"key %d" % (number % 10) if number % 3 else None,
            b"value %d" % number * (number % 7) if number % 5 else None,
            (("h", b"%d" % number), ("none", None)) if number % 4 == 0 else (),
            1_700_000_000_000 + number * 1000,
        )
        for number in range(count)
    ]


def columns(records: list[Record]) -> pa.RecordBatch:
    headers = [[{"key": k, "value": v} for k, v in each.headers] for each in records]
    return pa.RecordBatch.from_pydict(
        {
            "key": pa.array([each.key for each in records], pa.binary()),
            "value": pa.array([each.value for each in records], pa.binary()),
            "headers": pa.array(headers, HEADERS),
            "timestamp": pa.array([each.timestamp for each in records], pa.timestamp("ms", "UTC")),
            "partition": pa.array([0] * len(records), pa.int32()),
        }
    )


def records(table: pa.Table) -> list[Record]:
    return [
        Record(
            row["key"],
            row["value"],
            tuple((each["key"], each["value"]) for each in row["headers"] or ()),
            round(row["timestamp"].timestamp() * 1000),
        )
        for row in table.to_pylist()
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_what_others_wrote_is_a_table(node: Server, make_topic: Callable[..., str], codec: str) -> None:
    topic, written = make_topic(1), sample(500)
    clients.connect("confluent", node.bootstrap).write(topic, written, codec=codec)
    table = andiron.read_topic(topic, bootstrap=node.bootstrap, headers=True)

    assert records(table) == written
    assert table["offset"].to_pylist() == list(range(500))
    assert set(table["topic"].to_pylist()) == {topic}


@pytest.mark.parametrize("codec", CODECS)
def test_others_read_what_columns_became(
    node: Server, client: Client, make_topic: Callable[..., str], codec: str
) -> None:
    topic, written = make_topic(1), sample(500)
    with ColumnProducer(client, ProducerSettings(compression_type=codec, batch_size=2000)) as producer:
        producer.send(topic, columns(written))

    found = clients.connect("confluent", node.bootstrap).read(topic, end=500)
    assert [Record(each.key, each.value, each.headers, each.timestamp) for each in found] == written


def test_keys_go_where_other_clients_send_them(
    node: Server, client: Client, make_topic: Callable[..., str]
) -> None:
    ours, theirs = make_topic(5), make_topic(5)
    keyed = [Record(b"key %d" % number, b"") for number in range(200)]
    rows = pa.RecordBatch.from_pydict({"key": [each.key for each in keyed], "value": [b""] * 200})
    with ColumnProducer(client) as producer:
        producer.send(ours, rows)
    java_like = clients.connect("kafka_python", node.bootstrap)
    java_like.write(theirs, keyed, partition=None)

    def places(topic: str) -> dict[bytes, int]:
        table = andiron.read_topic(topic, bootstrap=node.bootstrap)
        return dict(zip(table["key"].to_pylist(), table["partition"].to_pylist(), strict=True))

    assert places(ours) == places(theirs)


def test_a_part_of_a_topic_by_time_and_offset(node: Server, make_topic: Callable[..., str]) -> None:
    topic = make_topic(2)
    other = clients.connect("confluent", node.bootstrap)
    for partition in (0, 1):
        other.write(topic, sample(100), partition=partition)
    since = datetime.fromtimestamp(1_700_000_090, UTC)

    late = andiron.read_topic(topic, bootstrap=node.bootstrap, start=since)
    assert late["offset"].to_pylist() == list(range(90, 100)) * 2
    early = andiron.read_topic(topic, bootstrap=node.bootstrap, end=since, partitions=[1], start={1: 80})
    assert early["offset"].to_pylist() == list(range(80, 90))


def test_open_transactions_end_the_table_and_do_not_hold_it_up(
    node: Server, client: Client, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(1)
    with ColumnProducer(client) as loose:
        loose.send(topic, columns(sample(10)))
    transaction = Transaction(client, f"{topic}-id")
    transaction.initiate()
    transaction.begin()
    with ColumnProducer(client, transaction=transaction) as producer:
        producer.send(topic, columns(sample(10)))
        producer.flush()

        assert andiron.read_topic(topic, bootstrap=node.bootstrap).num_rows == 10
        assert andiron.read_topic(topic, bootstrap=node.bootstrap, committed=False).num_rows == 20
        transaction.abort()


def test_a_table_is_taken_as_it_is(node: Server, client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic(3)
    rows = pa.RecordBatch.from_pydict(
        {"key": [b"%d" % (n % 50) for n in range(3000)], "value": [b"7"] * 3000}
    )
    with ColumnProducer(client) as producer:
        producer.send(topic, rows)
    table = andiron.read_topic(topic, bootstrap=node.bootstrap, headers=True)

    assert table.to_pandas()["key"].nunique() == 50
    assert polars.from_arrow(table).select("partition").n_unique() == 3
    summed = duckdb.from_arrow(table).aggregate("sum(CAST(decode(value) AS INT))").fetchall()
    assert summed == [(21000,)]
