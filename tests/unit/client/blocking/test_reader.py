"""Readers give every record once, from where they are told to where they are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.reader import PartitionReader, Reader
from andiron.client.core.positions import Position
from andiron.client.settings import ClientSettings, ReaderSettings
from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import TopicPartition
from andiron.records.builder import build
from andiron.records.control import end_marker
from andiron.records.record import Record
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch import AbortedTransaction, FetchResponse
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    made = Logs(broker)
    made.write(0, b"a", b"b", b"c")
    made.write(0, b"d", b"e")
    made.write(1, b"x")
    return made


@pytest.fixture
def client(broker: ScriptedBroker) -> Iterator[Client]:
    with Client(broker.bootstrap, QUICK) as made:
        yield made


def read(client: Client, start: int, end: int | None) -> list[bytes | None]:
    with PartitionReader(client, P0, start, end) as reader:
        return [record.value for record in reader]


def test_everything_from_the_start_to_the_end_is_read(client: Client, logs: Logs) -> None:
    assert read(client, 0, 5) == [b"a", b"b", b"c", b"d", b"e"]


def test_a_range_may_begin_and_end_within_batches(client: Client, logs: Logs) -> None:
    assert read(client, 1, 4) == [b"b", b"c", b"d"]


def test_an_empty_range_asks_nobody(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    assert read(client, 5, 5) == []
    assert not broker.requests("Fetch")


def test_without_an_end_the_next_record_is_waited_for(client: Client, logs: Logs) -> None:
    records = iter(PartitionReader(client, P0, 4))
    assert next(records).value == b"e"

    logs.write(0, b"later")
    assert next(records).value == b"later"


def test_several_partitions_are_fetched_in_one_request(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    with Reader(client, [Position(P0, 0, 5), Position(P1, 0, 1)]) as reader:
        found = {partition: [r.value for r in records] for partition, records in reader.poll()}

    assert found == {P0: [b"a", b"b", b"c", b"d", b"e"], P1: [b"x"]}
    assert reader.is_done
    assert len(broker.requests("Fetch")) == 1


def test_a_partition_that_is_done_is_not_asked_for(
    broker: ScriptedBroker, client: Client, logs: Logs
) -> None:
    reader = Reader(client, [Position(P0, 0, 5), Position(P1, 1, 1)])
    reader.poll()

    ((topic,),) = [request.topics for request in broker.requests("Fetch")]
    assert [each.partition for each in topic.partitions] == [0]


def test_nothing_new_is_an_empty_poll(client: Client, logs: Logs) -> None:
    assert Reader(client, [Position(P0, 5)]).poll(max_wait_ms=0) == []


def test_what_was_compacted_away_does_not_keep_a_reader_waiting(client: Client, logs: Logs) -> None:
    logs.batches[0].pop()

    assert read(client, 0, 5) == [b"a", b"b", b"c"]


def test_a_leader_that_moved_is_found_again(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    logs.fetch_errors = [ErrorCode.NOT_LEADER_OR_FOLLOWER.number]

    assert len(read(client, 0, 5)) == 5
    assert len(broker.requests("Metadata")) == 2


def test_a_lost_connection_loses_nothing(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.on(ApiKey.FETCH, lambda request: None, logs.fetch)

    assert len(read(client, 0, 5)) == 5


def test_an_offset_that_is_not_there_is_refused(client: Client, logs: Logs) -> None:
    logs.fetch_errors = [ErrorCode.OFFSET_OUT_OF_RANGE.number]

    with pytest.raises(Refused, match="t-0 has no offset 99"):
        read(client, 99, None)


def test_patience_has_an_end(broker: ScriptedBroker, logs: Logs) -> None:
    logs.fetch_errors = [ErrorCode.LEADER_NOT_AVAILABLE.number] * 10_000
    hasty = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1, default_api_timeout_ms=10)

    with Client(broker.bootstrap, hasty) as client, pytest.raises(ProtocolError) as caught:
        read(client, 0, 5)
    assert caught.value.code is ErrorCode.LEADER_NOT_AVAILABLE


def test_a_damaged_batch_is_not_read(client: Client, logs: Logs) -> None:
    logs.batches[0][1] = logs.batches[0][1][:-1] + b"?"

    with pytest.raises(ProtocolError, match="the batch at offset 3 fails its checksum"):
        read(client, 0, 5)


def test_checksums_may_be_left_alone(client: Client, logs: Logs) -> None:
    logs.batches[0][0] = logs.batches[0][0][:17] + bytes(4) + logs.batches[0][0][21:]
    unchecked = PartitionReader(client, P0, 0, 3, settings=ReaderSettings(check_crcs=False))

    assert [record.value for record in unchecked] == [b"a", b"b", b"c"]


def test_batches_come_packed(client: Client, logs: Logs) -> None:
    reader = PartitionReader(client, P0, 1, 4)

    assert [(batch.base_offset, batch.count) for batch in reader.batches()] == [(0, 3), (3, 2)]
    reader.close()


def test_a_round_may_be_asked_for_ahead(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    with Reader(client, [Position(P0, 0, 5)]) as reader:
        reader.fetch_ahead()
        ((_, records),) = reader.poll()

        assert [record.value for record in records] == [b"a", b"b", b"c", b"d", b"e"]
    assert len(broker.requests("Fetch")) == 1


def test_what_goes_wrong_ahead_is_told_when_it_is_awaited(broker: ScriptedBroker, logs: Logs) -> None:
    hasty = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1, default_api_timeout_ms=10)
    broker.topic("t", partitions=2, leader=9)
    with Client(broker.bootstrap, hasty) as client, Reader(client, [Position(P0, 0, 5)]) as reader:
        reader.fetch_ahead()
        with pytest.raises(ProtocolError, match="has no leader"):
            while True:
                reader.fetch()


@pytest.mark.parametrize("committed", [True, False])
def test_aborted_records_are_seen_by_those_who_ask_for_all(
    broker: ScriptedBroker, client: Client, logs: Logs, committed: bool
) -> None:
    aborted = build([Record(0, 1000, None, b"aborted")], base_offset=5, producer_id=7, transactional=True)
    marker = end_marker(
        False, producer_id=7, producer_epoch=0, coordinator_epoch=0, timestamp=1000, base_offset=6
    )
    logs.batches[0] += [bytes(aborted), bytes(marker)]
    logs.ends[0] = 7

    def fetch(request: object) -> FetchResponse:
        answer = logs.fetch(request)
        answer.responses[0].partitions[0].aborted_transactions = [AbortedTransaction(7, 5)]
        return answer

    broker.on(ApiKey.FETCH, fetch)
    reader = PartitionReader(client, P0, 4, 7, committed=committed)
    assert [record.value for record in reader] == [b"e"] + ([] if committed else [b"aborted"])
    batches = PartitionReader(client, P0, 4, 7, committed=committed).batches()
    assert [batch.base_offset for batch in batches] == [3] + ([] if committed else [5])
