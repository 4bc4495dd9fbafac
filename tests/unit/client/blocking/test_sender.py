"""A sender delivers in order, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import DeliveryTotals, Sender
from andiron.client.core.outbox import ProducerIdentity
from andiron.client.settings import ClientSettings, ProducerSettings
from andiron.model.errors import ErrorCode, Refused, Retriable
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.apis import ApiKey
from unit.client.logs import PRODUCER_ID, Logs
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER.number
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.number
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)


class OneByOne(Sender):
    """Sends each value as a batch."""

    def put(self, value: bytes, partition: int = 0) -> None:
        place, (producer, epoch) = TopicPartition("t", partition), self._outbox.identity
        batch = build(
            [Record(0, 1000, None, value)],
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=self._outbox.sequence(place),
        )
        self._outbox.put(place, batch, 1)

    def send(self, value: bytes, partition: int = 0) -> None:
        self.put(value, partition)
        self._send_waiting()

    @property
    def under_way(self) -> int:
        return sum(map(len, self._in_flight.values()))


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
    return [b"value %d" % number for number in range(count)]


def write(client: Client, settings: ProducerSettings | None = None, count: int = 20) -> OneByOne:
    with OneByOne(client, settings) as sender:
        for value in values(count):
            sender.send(value)
    return sender


def test_batches_arrive_in_order(client: Client, logs: Logs) -> None:
    sender = write(client)

    assert logs.values(0) == values(20)
    delivered = sender.delivered[P0]
    assert (delivered.records, delivered.first, delivered.next) == (20, 0, 20)


def test_requests_are_sent_before_the_first_is_answered(client: Client, logs: Logs) -> None:
    sender = OneByOne(client)
    for value in values(9):
        sender.send(value)

    assert sender.under_way > 1
    sender.flush()
    assert sender.under_way == 0


def test_what_failed_in_passing_is_sent_again_in_order(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, NOT_LEADER]
    write(client)

    assert logs.values(0) == values(20)


def test_a_lost_connection_loses_nothing(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.on(ApiKey.PRODUCE, logs.produce, lambda request: None, logs.produce)
    write(client)

    assert logs.values(0) == values(20)


def test_an_answer_that_is_lost_does_not_write_twice(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    def lose(request: object) -> None:
        logs.produce(request)

    broker.on(ApiKey.PRODUCE, logs.produce, lose, logs.produce)
    write(client)

    assert logs.values(0) == values(20)


def test_without_idempotence_one_request_is_under_way(client: Client, logs: Logs) -> None:
    logs.produce_errors = [0, NOT_LEADER]
    write(client, ProducerSettings(acks="1"))

    assert logs.values(0) == values(20)
    assert Batch(logs.batches[0][0]).producer_id == -1


def test_a_refusal_is_raised(client: Client, logs: Logs) -> None:
    logs.produce_errors = [ErrorCode.MESSAGE_TOO_LARGE.number]

    with pytest.raises(Refused, match="t-0"):
        write(client)


def test_a_gap_that_nothing_explains_is_raised(client: Client, logs: Logs) -> None:
    logs.produce_errors = [OUT_OF_ORDER]

    with pytest.raises(Refused) as caught:
        write(client)
    assert caught.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_patience_with_a_batch_has_an_end(client: Client, logs: Logs) -> None:
    logs.produce_errors = [NOT_LEADER] * 10_000

    with pytest.raises(Retriable):
        write(client, ProducerSettings(delivery_timeout_ms=10), count=1)


def test_with_acks_0_nothing_is_awaited(broker: ScriptedBroker, client: Client) -> None:
    broker.on(ApiKey.PRODUCE, lambda request: b"")
    sender = write(client, ProducerSettings(acks="0"), count=3)

    assert sender.delivered[P0]._replace(bytes=0) == DeliveryTotals(3, 0, -1, -1)


def test_a_request_holds_a_batch_of_each_partition_and_no_more_than_it_may(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    broker.topic("t", partitions=4)
    with OneByOne(client, ProducerSettings(max_request_size=300)) as sender:
        for partition in (0, 1, 2, 3, 0):
            sender.put(bytes(50), partition)

    sizes = [
        sum(len(topic.partition_data) for topic in each.topic_data) for each in broker.requests("Produce")
    ]
    assert sizes == [2, 2, 1]
    assert all(logs.values(partition) for partition in range(4))


def test_what_is_discarded_is_not_sent_and_what_is_under_way_is_awaited(client: Client, logs: Logs) -> None:
    sender = OneByOne(client)
    sender.send(b"sent")
    sender.put(b"waiting")
    sender.discard()
    sender.flush()

    assert sender.under_way == 0
    assert logs.values(0) == [b"sent"]


def test_another_identity_begins_its_own_sequences(client: Client, logs: Logs) -> None:
    with OneByOne(client) as sender:
        sender.send(b"first")
        sender.identify(ProducerIdentity(PRODUCER_ID, 1))
        sender.send(b"second")

    batches = [Batch(data) for data in logs.batches[0]]
    assert [(each.producer_epoch, each.base_sequence) for each in batches] == [(0, 0), (1, 0)]


def test_an_error_on_the_way_out_gives_up_what_waits(client: Client, logs: Logs) -> None:
    with pytest.raises(ZeroDivisionError), OneByOne(client) as sender:
        sender.put(b"waiting")
        raise ZeroDivisionError

    assert logs.values(0) == []
