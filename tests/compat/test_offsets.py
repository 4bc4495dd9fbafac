"""Where a log begins and ends, and what was written when, through every client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from peers import clients
from peers.clients import Client, Record, Refused
from peers.clients.base import EARLIEST, LATEST, MAX_TIMESTAMP
from peers.marks import each_client
from peers.process import Server
from peers.waiting import eventually

OFFSET_OUT_OF_RANGE = 1
TIMES = [1_700_000_000_000 + step for step in (0, 10, 20, 20, 50, 40)]


@pytest.fixture
def timed(node: Server, make_topic: Callable[..., str]) -> str:
    """Six records, the latest of which was not written last."""
    topic = make_topic()
    records = [Record(b"k%d" % number, b"v", timestamp=time) for number, time in enumerate(TIMES)]
    # Two batches, so that a time can lie in either.
    client = clients.connect("confluent", node.bootstrap)
    client.write(topic, records[:3])
    client.write(topic, records[3:])
    return topic


@each_client("list_offset")
def test_the_ends_of_a_log(client: Client, timed: str) -> None:
    assert client.list_offset(timed, 0, EARLIEST) == 0
    assert client.list_offset(timed, 0, LATEST) == len(TIMES)


@each_client("list_offset")
def test_the_ends_of_an_empty_log(client: Client, make_topic: Callable[..., str]) -> None:
    topic = make_topic()

    assert client.list_offset(topic, 0, EARLIEST) == 0
    assert client.list_offset(topic, 0, LATEST) == 0


@each_client("list_offset")
@pytest.mark.parametrize(
    ("time", "offset"),
    [(TIMES[0] - 5, 0), (TIMES[0], 0), (TIMES[0] + 1, 1), (TIMES[0] + 15, 2), (TIMES[0] + 21, 4)],
)
def test_the_first_record_at_or_after_a_time(client: Client, timed: str, time: int, offset: int) -> None:
    assert client.list_offset(timed, 0, time) == offset


@each_client("list_offset")
def test_no_record_is_after_the_last(client: Client, timed: str) -> None:
    assert client.list_offset(timed, 0, TIMES[0] + 1000) == -1


@pytest.mark.parametrize("client", ["confluent", "kafka_python", "java"], indirect=True)
def test_the_record_with_the_greatest_timestamp(client: Client, timed: str) -> None:
    assert client.list_offset(timed, 0, MAX_TIMESTAMP) == TIMES.index(max(TIMES))


@each_client("delete_records", "list_offset", "read")
def test_deleted_records_are_out_of_range(client: Client, timed: str) -> None:
    assert client.delete_records(timed, 0, 4) == 4

    assert client.list_offset(timed, 0, EARLIEST) == 4
    assert [record.offset for record in client.read(timed, start=4, end=6)] == [4, 5]
    with pytest.raises(Refused) as refused:
        client.read(timed, start=3, end=6)
    assert refused.value.code == OFFSET_OUT_OF_RANGE


@each_client("delete_records", "list_offset")
def test_all_records_can_be_deleted(client: Client, timed: str) -> None:
    assert client.delete_records(timed, 0, -1) == len(TIMES)

    eventually(lambda: client.list_offset(timed, 0, EARLIEST) == len(TIMES))
    assert client.list_offset(timed, 0, LATEST) == len(TIMES)
