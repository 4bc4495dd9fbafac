"""A producer gathers records into batches and chooses their partitions; how they are delivered: test_sender.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.core.partitioner import partition_of
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ErrorCode, Refused
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from unit.client.logs import PRODUCER_ID, Logs
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER.number
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)
SMALL = ProducerSettings(batch_size=150)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=1)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    return Logs(broker)


@pytest.fixture
def client(broker: ScriptedBroker, logs: Logs) -> Iterator[Client]:
    with Client(broker.bootstrap, QUICK) as made:
        yield made


def values(count: int) -> list[bytes]:
    return [b"value %d" % number + bytes(50) for number in range(count)]


def write(client: Client, settings: ProducerSettings, count: int = 20) -> Producer:
    with Producer(client, settings) as producer:
        for value in values(count):
            producer.send("t", value)
    return producer


def test_records_arrive_in_order(client: Client, logs: Logs) -> None:
    producer = write(client, SMALL)

    assert logs.values(0) == values(20)
    delivered = producer.delivered[P0]
    assert (delivered.records, delivered.first, delivered.next) == (20, 0, 20)


def test_batches_carry_the_producer_and_its_sequences(client: Client, logs: Logs) -> None:
    write(client, SMALL)

    batches = [Batch(data) for data in logs.batches[0]]
    assert len(batches) > 5
    assert {batch.producer_id for batch in batches} == {PRODUCER_ID}
    assert [batch.base_sequence for batch in batches] == [batch.base_offset for batch in batches]


def test_records_are_sent_when_a_batch_is_full(broker: ScriptedBroker, client: Client) -> None:
    with Producer(client, SMALL) as producer:
        producer.send("t", bytes(100))
        assert broker.requests("Produce") == []
        producer.send("t", bytes(100))
        producer.send("t", bytes(100))
        producer.send("t", bytes(100))
        assert not producer._outbox.waiting


def test_what_failed_in_passing_is_sent_again_in_order(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, NOT_LEADER]
    write(client, SMALL)

    assert logs.values(0) == values(20)


def test_a_key_decides_the_partition(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.topic("t", partitions=3)
    with Producer(client) as producer:
        for number in range(30):
            producer.send("t", b"%d" % number, key=b"key %d" % (number % 5))

    for number in range(30):
        assert b"%d" % number in logs.values(partition_of(b"key %d" % (number % 5), 3))


def test_a_partition_can_be_named(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.topic("t", partitions=3)
    with Producer(client) as producer:
        producer.send("t", b"here", partition=2)

    assert logs.values(2) == [b"here"]


def test_a_partition_that_is_not_there_is_refused(client: Client, logs: Logs) -> None:
    with pytest.raises(Refused, match="not 7"), Producer(client) as producer:
        producer.send("t", b"here", partition=7)


def test_an_error_on_the_way_out_gives_up_what_was_gathered(client: Client, logs: Logs) -> None:
    with pytest.raises(ZeroDivisionError), Producer(client) as producer:
        producer.send("t", b"gathered")
        raise ZeroDivisionError

    assert logs.values(0) == []


def test_what_was_gathered_can_be_discarded(client: Client, logs: Logs) -> None:
    with Producer(client) as producer:
        producer.send("t", b"gathered")
        producer.discard()
        producer.send("t", b"after")

    assert logs.values(0) == [b"after"]
