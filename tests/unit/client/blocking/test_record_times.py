"""One batch a partition, a few on their way at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.record_times import times_of_records
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

PARTITIONS = [TopicPartition("t", number) for number in range(12)]
WRITTEN_AT = 1000  # by Logs


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=len(PARTITIONS))
        yield scripted


@pytest.fixture
def client(broker: ScriptedBroker) -> Iterator[Client]:
    with Client(broker.bootstrap, ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)) as made:
        yield made


def test_each_partition_has_a_small_request_of_its_own(broker: ScriptedBroker, client: Client) -> None:
    logs = Logs(broker)
    for partition in PARTITIONS:
        logs.write(partition.partition, b"a", b"b")
    times = times_of_records(client, dict.fromkeys(PARTITIONS, 1))

    assert times == dict.fromkeys(PARTITIONS, WRITTEN_AT)
    requests = broker.requests("Fetch")
    assert [request.topics[0].partitions[0].partition for request in requests] == list(range(12))
    assert {(request.max_bytes, request.max_wait_ms) for request in requests} == {(1, 0)}


def test_what_is_not_there_has_no_time(broker: ScriptedBroker, client: Client) -> None:
    logs = Logs(broker)
    logs.write(0, b"a")
    logs.fetch_errors = [0, ErrorCode.OFFSET_OUT_OF_RANGE.number, 0]
    asked = {PARTITIONS[0]: 0, PARTITIONS[1]: 5, PARTITIONS[2]: 0}

    assert times_of_records(client, asked) == {
        PARTITIONS[0]: WRITTEN_AT,
        PARTITIONS[1]: None,
        PARTITIONS[2]: None,
    }


def test_what_fails_in_passing_is_asked_again(broker: ScriptedBroker, client: Client) -> None:
    logs = Logs(broker)
    logs.write(0, b"a")
    logs.fetch_errors = [ErrorCode.NOT_LEADER_OR_FOLLOWER.number]

    assert times_of_records(client, {PARTITIONS[0]: 0}) == {PARTITIONS[0]: WRITTEN_AT}


def test_a_batch_that_cannot_be_read_leaves_the_connection_in_order(
    broker: ScriptedBroker, client: Client
) -> None:
    logs = Logs(broker)
    for partition in PARTITIONS:
        logs.write(partition.partition, b"a")
    logs.batches[0][0] = logs.batches[0][0][:61] + b"\xff" * (len(logs.batches[0][0]) - 61)
    times = times_of_records(client, dict.fromkeys(PARTITIONS, 0))

    assert times[PARTITIONS[0]] is None
    assert set(times.values()) == {None, WRITTEN_AT}
    assert client.topics()


def test_nothing_asked_is_nothing_answered(broker: ScriptedBroker, client: Client) -> None:
    assert times_of_records(client, {}) == {}
    assert broker.asked == []
