"""Columns are encoded a partition at a time and arrive as records do. Against real brokers: tests/compat."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pyarrow as pa
import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_producer import ColumnProducer
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.transaction import Transaction
from andiron.client.core.partitioner import partition_of
from andiron.client.core.transaction import Phase
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import Record, records_of
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker
from unit.client.transacting import Transacting

QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)
COUNT = 3


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=COUNT)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    return Logs(broker)


@pytest.fixture
def client(broker: ScriptedBroker, logs: Logs) -> Iterator[Client]:
    with Client(broker.bootstrap, QUICK) as made:
        yield made


def rows(**columns: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def write(client: Client, *batches: pa.RecordBatch, **settings: object) -> ColumnProducer:
    with ColumnProducer(client, ProducerSettings(**settings)) as producer:
        for batch in batches:
            producer.send("t", batch)
    return producer


def records(logs: Logs, partition: int) -> list[Record]:
    return [record for data in logs.batches[partition] for record in records_of(Batch(data))]


def test_a_key_decides_the_partition_and_order_is_kept(client: Client, logs: Logs) -> None:
    keys = [b"key %d" % (number % 7) for number in range(50)]
    values = [b"%d" % number for number in range(50)]
    write(client, rows(key=keys, value=values), rows(key=keys, value=values))

    for partition in range(COUNT):
        mine = [
            value for key, value in zip(keys, values, strict=True) if partition_of(key, COUNT) == partition
        ]
        assert logs.values(partition) == mine * 2


def test_every_column_arrives(client: Client, logs: Logs) -> None:
    headers = pa.array(
        [[{"key": "h", "value": b"x"}], None],
        pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
    )
    timestamps = pa.array([1_000_000, 2_000_000], pa.timestamp("us", "UTC"))
    write(
        client,
        rows(key=[b"k", None], value=[None, b"v"], partition=[1, 1], headers=headers, timestamp=timestamps),
    )

    assert records(logs, 1) == [
        Record(0, 1000, b"k", None, (("h", b"x"),)),
        Record(1, 2000, None, b"v"),
    ]


def test_the_topic_comes_before_what_is_sent_to_it_as_it_does_for_records() -> None:
    orders = [list(inspect.signature(each.send).parameters)[:2] for each in (ColumnProducer, Producer)]

    assert orders == [["self", "topic"], ["self", "topic"]]


def test_rows_find_their_own_topics(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.topic("u", topic_id=b"u" * 16)
    with ColumnProducer(client) as producer:
        producer.send(None, rows(value=[b"1", b"2", b"3"], topic=["t", "u", "t"], partition=[0, 0, 1]))

    found = {place: each.records for place, each in producer.delivered.items()}
    assert found == {TopicPartition("t", 0): 1, TopicPartition("t", 1): 1, TopicPartition("u", 0): 1}


def test_keyless_rows_fill_batches(client: Client, logs: Logs) -> None:
    write(client, rows(value=[bytes(10)] * 1000), batch_size=1000)

    sizes = [Batch(data).count for partition in range(COUNT) for data in logs.batches[partition]]
    assert sum(sizes) == 1000
    assert sum(size > 20 for size in sizes) >= 10, "a turn is a batch's worth of rows, not a few of them"


def test_sequences_go_on_from_send_to_send(client: Client, logs: Logs) -> None:
    batch = rows(value=[bytes(10)] * 100, partition=[0] * 100)
    write(client, batch, batch, batch, batch_size=400)

    batches = [Batch(data) for data in logs.batches[0]]
    assert len(batches) > 6
    assert [each.base_sequence for each in batches] == [each.base_offset for each in batches]
    assert sum(each.count for each in batches) == 300


def test_batches_are_packed(client: Client, logs: Logs) -> None:
    write(client, rows(value=[bytes(100)] * 100, partition=[0] * 100), compression_type="zstd")

    assert {Batch(data).codec for data in logs.batches[0]} == {4}
    assert logs.values(0) == [bytes(100)] * 100


def test_small_calls_make_large_batches(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    write(client, *[rows(value=[bytes(10)], partition=[0])] * 500)

    assert [Batch(data).count for data in logs.batches[0]] == [500]


def test_rows_of_another_shape_or_topic_stay_in_order(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    broker.topic("u", topic_id=b"u" * 16)
    with ColumnProducer(client) as producer:
        producer.send("t", rows(value=[b"1"], partition=[0]))
        producer.send("t", rows(value=["2"], partition=[0]))
        producer.send("u", rows(value=["other"], partition=[0]))
        producer.send("t", rows(value=[b"3"], partition=[0]))

    assert [value for value in logs.values(0) if value != b"other"] == [b"1", b"2", b"3"]


def test_dictionaries_may_differ_from_call_to_call(client: Client, logs: Logs) -> None:
    names = [pa.array(each).dictionary_encode() for each in (["a", "b"], ["c"])]
    write(client, *[rows(value=each, partition=[0] * len(each)) for each in names])

    assert logs.values(0) == [b"a", b"b", b"c"]


def test_what_was_gathered_can_be_discarded(client: Client, logs: Logs) -> None:
    with ColumnProducer(client) as producer:
        producer.send("t", rows(value=[b"gathered"], partition=[0]))
        producer.discard()
        producer.send("t", rows(value=[b"after"], partition=[0]))

    assert logs.values(0) == [b"after"]


def test_what_is_larger_than_the_buffer_goes_in_portions(client: Client, logs: Logs) -> None:
    producer = write(client, rows(value=[bytes(100)] * 1000, partition=[0] * 1000), buffer_memory=10_000)

    assert logs.values(0) == [bytes(100)] * 1000
    assert producer.delivered[TopicPartition("t", 0)].records == 1000


def test_no_rows_are_nothing(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    write(client, rows(value=pa.array([], pa.binary())))

    assert broker.requests("Produce") == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"key": [b"k"]}, "no column named value"),
        ({"value": [1]}, "value is int64"),
        ({"value": [b"v"], "partition": [7]}, "not 7"),
    ],
)
def test_what_cannot_be_written_is_refused(client: Client, columns: dict[str, object], said: str) -> None:
    with pytest.raises(Refused, match=said):
        write(client, rows(**columns))


def test_what_was_refused_is_never_committed_around(broker: ScriptedBroker, client: Client) -> None:
    coordinator = Transacting(broker)
    transaction = Transaction(client, "tx")
    transaction.initiate()
    producer = ColumnProducer(client, transaction=transaction)
    with pytest.raises(Refused, match="is not begun"):
        producer.send("t", rows(value=[b"early"]))
    transaction.begin()
    producer.send("t", rows(value=[b"good"], partition=[0]))
    producer.send("t", rows(value=[1]))
    with pytest.raises(ProtocolError):
        producer.flush()

    assert transaction.phase is Phase.FAILED
    with pytest.raises(Refused, match="can only be aborted"):
        transaction.commit()
    transaction.abort()
    assert coordinator.outcomes == [False]
    producer.close()


def test_a_transaction_commits_what_it_flushes(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    coordinator = Transacting(broker)
    transaction = Transaction(client, "tx")
    with ColumnProducer(client, transaction=transaction) as producer:
        transaction.initiate()
        transaction.begin()
        producer.send("t", rows(value=[b"1", b"2"], partition=[0, 2]))
        transaction.commit()

    assert coordinator.outcomes == [True]
    batch = Batch(logs.batches[2][0])
    assert (batch.is_transactional, batch.base_sequence, batch.producer_epoch) == (True, 0, 0)


def test_errors_are_those_of_any_sender(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, ErrorCode.NOT_LEADER_OR_FOLLOWER.number]
    batch = rows(value=[bytes(10)] * 100, partition=[0] * 100)
    write(client, batch, batch, batch_size=400)

    assert len(logs.values(0)) == 200
