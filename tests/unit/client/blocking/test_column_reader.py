"""A partition comes as columns: every record once, an answer at a time, the next fetch on its way meanwhile."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pyarrow as pa
import pytest

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import COLUMN_SETTINGS, ColumnReader
from andiron.client.blocking.reader import PartitionReader
from andiron.client.settings import ClientSettings, ReaderSettings
from andiron.columns.schema import arrow_schema
from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.model.ids import TopicPartition
from andiron.records.control import end_marker
from andiron.wire.apis import ApiKey
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)
QUICK = ClientSettings(retry_backoff_ms=1, retry_backoff_max_ms=1)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t")
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    """Three batches, of which an answer brings one."""
    made = Logs(broker)
    made.write(0, b"a", b"b", b"c")
    made.write(0, b"d", b"e")
    made.write(0, b"f")
    made.batches_an_answer = 1
    return made


@pytest.fixture
def client(broker: ScriptedBroker, logs: Logs) -> Iterator[Client]:
    with Client(broker.bootstrap, QUICK) as made:
        yield made


def values(batches: list[pa.RecordBatch]) -> list[bytes | None]:
    return [value for batch in batches for value in batch["value"].to_pylist()]


def read(client: Client, start: int, end: int | None) -> list[bytes | None]:
    with ColumnReader(client, P0, start, end) as reader:
        return values(list(reader))


def test_a_partition_is_opened_in_the_same_words_for_records_and_for_columns() -> None:
    records, columns = (inspect.signature(each).parameters for each in (PartitionReader, ColumnReader))

    assert [columns[name] for name in records] == list(records.values())
    assert list(columns)[:4] == list(records)[:4]


def test_everything_from_the_start_to_the_end_is_read(client: Client) -> None:
    assert read(client, 0, 6) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_a_range_may_begin_and_end_within_batches(client: Client) -> None:
    assert read(client, 1, 4) == [b"b", b"c", b"d"]


def test_an_empty_range_asks_nobody(broker: ScriptedBroker, client: Client) -> None:
    assert read(client, 5, 5) == []
    assert not broker.requests("Fetch")


@pytest.mark.parametrize("headers", [True, False])
def test_columns_are_those_of_a_topic(client: Client, headers: bool) -> None:
    with ColumnReader(client, P0, 4, 6, headers=headers) as reader:
        first, _ = reader

    assert first.schema == arrow_schema(headers)
    assert first.slice(0, 1).to_pylist()[0]["offset"] == 4


def test_an_answer_is_one_record_batch(client: Client, logs: Logs) -> None:
    logs.batches_an_answer = None
    with ColumnReader(client, P0, 0, 6) as reader:
        (everything,) = reader

    assert everything.num_rows == 6


def test_the_next_fetch_is_sent_before_an_answer_is_given(broker: ScriptedBroker, client: Client) -> None:
    with ColumnReader(client, P0, 0, 6) as reader:
        batches = iter(reader)
        next(batches)
        next(batches)

    offsets = [request.topics[0].partitions[0].fetch_offset for request in broker.requests("Fetch")]
    assert offsets[:2] == [0, 3], "and the third may be on its way"


def test_nothing_is_fetched_behind_the_end(broker: ScriptedBroker, client: Client) -> None:
    read(client, 0, 5)

    assert len(broker.requests("Fetch")) == 2


def test_the_position_is_behind_what_was_given(client: Client) -> None:
    with ColumnReader(client, P0, 0, 4) as reader:
        assert reader.position == 0
        found = [(batch.num_rows, reader.position) for batch in reader]

    assert found == [(3, 3), (1, 4)]


def test_iterating_goes_on_where_it_was_left(client: Client) -> None:
    with ColumnReader(client, P0, 0, 6) as reader:
        first = next(iter(reader))
        rest = list(reader)

    assert values([first, *rest]) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_without_an_end_the_next_record_is_waited_for(client: Client, logs: Logs) -> None:
    with ColumnReader(client, P0, 5, None) as reader:
        batches = iter(reader)
        assert values([next(batches)]) == [b"f"]
        logs.write(0, b"later")
        assert values([next(batches)]) == [b"later"]


def test_what_was_compacted_away_does_not_keep_a_reader_waiting(client: Client, logs: Logs) -> None:
    logs.batches[0].pop()
    with ColumnReader(client, P0, 0, 6) as reader:
        assert len(values(list(reader))) == 5
    assert reader.position == 6


def test_control_batches_are_stepped_over(client: Client, logs: Logs) -> None:
    marker = end_marker(
        True, producer_id=1, producer_epoch=0, coordinator_epoch=0, timestamp=1000, base_offset=6
    )
    logs.batches[0].append(bytes(marker))
    logs.ends[0] = 7
    logs.write(0, b"behind")

    assert read(client, 5, 8) == [b"f", b"behind"]


def test_a_leader_that_moved_is_found_again(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    logs.fetch_errors = [0, ErrorCode.NOT_LEADER_OR_FOLLOWER.number]

    assert len(read(client, 0, 6)) == 6
    assert len(broker.requests("Metadata")) == 2


def test_a_lost_connection_loses_nothing(broker: ScriptedBroker, client: Client, logs: Logs) -> None:
    broker.on(ApiKey.FETCH, logs.fetch, lambda request: None, lambda request: None, logs.fetch)

    assert read(client, 0, 6) == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_an_offset_that_is_not_there_is_refused(client: Client, logs: Logs) -> None:
    logs.fetch_errors = [ErrorCode.OFFSET_OUT_OF_RANGE.number]

    with pytest.raises(Refused, match="t-0 has no offset 99") as caught:
        read(client, 99, None)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_damaged_batch_is_not_read_and_not_skipped(client: Client, logs: Logs) -> None:
    logs.batches_an_answer = None
    whole, logs.batches[0][1] = logs.batches[0][1], logs.batches[0][1][:-1] + b"?"
    reader = ColumnReader(client, P0, 0, 6)
    for _ in range(2):
        with pytest.raises(ProtocolError, match="the batch at offset 3 fails its checksum"):
            list(reader)
    assert reader.position == 0

    logs.batches[0][1] = whole
    assert len(values(list(reader))) == 6
    reader.close()


def test_fetches_are_large_unless_told_otherwise(broker: ScriptedBroker, client: Client) -> None:
    with ColumnReader(client, P0, 0, 1) as reader:
        list(reader)
    with ColumnReader(client, P0, 0, 1, settings=ReaderSettings(max_partition_fetch_bytes=7)) as reader:
        list(reader)

    asked = [each.topics[0].partitions[0].partition_max_bytes for each in broker.requests("Fetch")]
    assert asked == [COLUMN_SETTINGS.max_partition_fetch_bytes, 7]


def test_an_end_that_the_log_does_not_reach_is_waited_for_so_long_and_no_longer(client: Client) -> None:
    settings = ReaderSettings(fetch_max_wait_ms=1)
    with ColumnReader(client, P0, 0, 9, settings=settings, patience_ms=20) as reader:
        came: list[bytes | None] = []
        with pytest.raises(
            ProtocolError, match="nothing came at offset 6 for 20 ms, and 9 is to be reached"
        ) as caught:
            for batch in reader:
                came += values([batch])

    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert came == [b"a", b"b", b"c", b"d", b"e", b"f"]
