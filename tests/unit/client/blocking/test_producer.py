"""A producer delivers in order, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Delivered, Producer
from andiron.client.core.partitioner import partition_of
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ErrorCode, Refused, Retriable
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.wire.apis import ApiKey
from unit.client.logs import PRODUCER_ID, Logs
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER.number
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.number
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
def client(broker: ScriptedBroker) -> Iterator[Client]:
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


def test_requests_are_sent_before_the_first_is_answered(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    sent: list[int] = []
    producer = Producer(client, SMALL)
    broker.on(ApiKey.PRODUCE, lambda request: sent.append(1) or logs.produce(request))
    for value in values(9):
        producer.send("t", value)

    assert sum(map(len, producer._in_flight.values())) > 1
    producer.flush()
    assert sum(map(len, producer._in_flight.values())) == 0


def test_what_failed_in_passing_is_sent_again_in_order(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, NOT_LEADER]
    write(client, SMALL)

    assert logs.values(0) == values(20)


def test_a_lost_connection_loses_nothing(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.on(ApiKey.PRODUCE, logs.produce, lambda request: None, logs.produce)
    write(client, SMALL)

    assert logs.values(0) == values(20)


def test_an_answer_that_is_lost_does_not_write_twice(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    def lose(request: object) -> None:
        logs.produce(request)

    broker.on(ApiKey.PRODUCE, logs.produce, lose, logs.produce)
    write(client, SMALL)

    assert logs.values(0) == values(20)


def test_without_idempotence_one_request_is_under_way(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, NOT_LEADER]
    write(client, ProducerSettings(batch_size=150, acks="1"))

    assert logs.values(0) == values(20)
    assert Batch(logs.batches[0][0]).producer_id == -1


def test_a_refusal_is_raised(client: Client, logs: Logs) -> None:
    logs.produce_errors = [ErrorCode.MESSAGE_TOO_LARGE.number]

    with pytest.raises(Refused, match="t-0"):
        write(client, SMALL)


def test_a_gap_that_nothing_explains_is_raised(client: Client, logs: Logs) -> None:
    logs.produce_errors = [OUT_OF_ORDER]

    with pytest.raises(Refused) as caught:
        write(client, SMALL)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_patience_with_a_batch_has_an_end(client: Client, logs: Logs) -> None:
    logs.produce_errors = [NOT_LEADER] * 10_000

    with pytest.raises(Retriable):
        write(client, ProducerSettings(delivery_timeout_ms=10), count=1)


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


def test_with_acks_0_nothing_is_awaited(broker: ScriptedBroker, client: Client) -> None:
    broker.on(ApiKey.PRODUCE, lambda request: b"")
    producer = write(client, ProducerSettings(acks="0"), count=3)

    assert producer.delivered[P0]._replace(bytes=0) == Delivered(3, 0, -1, -1)


def test_an_error_on_the_way_out_gives_up_what_was_gathered(client: Client, logs: Logs) -> None:
    with pytest.raises(ZeroDivisionError), Producer(client) as producer:
        producer.send("t", b"gathered")
        raise ZeroDivisionError

    assert logs.values(0) == []


def test_a_request_holds_no_more_than_it_may(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.topic("t", partitions=4)
    with Producer(client, ProducerSettings(max_request_size=200)) as producer:
        for partition in range(4):
            producer.send("t", bytes(100), partition=partition)

    for request in broker.requests("Produce"):
        assert sum(len(topic.partition_data) for topic in request.topic_data) == 1
    assert all(logs.values(partition) for partition in range(4))
