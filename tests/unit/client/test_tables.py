"""A topic as a table: which part of it, and that others take the table as it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import pandas
import polars
import pytest

import andiron
from andiron.client.tables import read_topic
from andiron.columns.schema import arrow_schema
from andiron.model.errors import Refused
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

EARLIEST, LATEST = -2, -1
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    made = Logs(broker)
    made.write(0, b"a", b"b", b"c")
    made.write(0, b"d")
    made.write(1, b"x", b"y")
    return made


def read(broker: ScriptedBroker, **options: Any) -> list[bytes]:
    return read_topic("t", bootstrap=broker.bootstrap, **options)["value"].to_pylist()


def test_all_of_a_topic_comes_by_partition_and_offset(broker: ScriptedBroker, logs: Logs) -> None:
    table = read_topic("t", bootstrap=broker.bootstrap)

    assert table.schema == arrow_schema(headers=False)
    assert table["value"].to_pylist() == [b"a", b"b", b"c", b"d", b"x", b"y"]
    assert table["offset"].to_pylist() == [0, 1, 2, 3, 0, 1]
    assert table["partition"].to_pylist() == [0, 0, 0, 0, 1, 1]


def test_headers_come_where_they_are_wanted(broker: ScriptedBroker, logs: Logs) -> None:
    table = read_topic("t", bootstrap=broker.bootstrap, headers=True)

    assert table.schema == arrow_schema(headers=True)


def test_an_empty_topic_is_an_empty_table(broker: ScriptedBroker) -> None:
    Logs(broker)
    table = read_topic("t", bootstrap=broker.bootstrap)

    assert (table.num_rows, table.schema) == (0, arrow_schema(headers=False))


def test_some_partitions(broker: ScriptedBroker, logs: Logs) -> None:
    assert read(broker, partitions=[1]) == [b"x", b"y"]
    with pytest.raises(Refused, match="partitions 0 to 1, not 2"):
        read(broker, partitions=[2])


def test_offsets_by_partition(broker: ScriptedBroker, logs: Logs) -> None:
    assert read(broker, start={0: 2}) == [b"c", b"d", b"x", b"y"]
    assert read(broker, end={0: 1, 1: 1}) == [b"a", b"x"]
    assert read(broker, start={0: 1, 1: 1}, end={0: 3}) == [b"b", b"c", b"y"]


def test_an_end_that_is_not_there_yet_is_not_waited_for(broker: ScriptedBroker, logs: Logs) -> None:
    assert read(broker, start={0: 3, 1: 5}, end={0: 99, 1: 99}) == [b"d"]


def test_from_the_latest_there_is_nothing(broker: ScriptedBroker, logs: Logs) -> None:
    assert read(broker, start="latest") == []


def test_a_time(broker: ScriptedBroker, logs: Logs) -> None:
    """The broker has a record since noon in one partition alone."""

    def offsets(request: Any) -> ListOffsetsResponse:
        told = {EARLIEST: (0, 0), LATEST: (4, 2), round(NOON.timestamp() * 1000): (2, -1)}
        topics = [
            ListOffsetsTopicResponse(
                topic.name,
                [
                    ListOffsetsPartitionResponse(
                        each.partition_index, offset=told[each.timestamp][each.partition_index]
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return ListOffsetsResponse(topics=topics)

    broker.on(ApiKey.LIST_OFFSETS, offsets)
    assert read(broker, start=NOON) == [b"c", b"d"]
    assert read(broker, end=NOON) == [b"a", b"b", b"x", b"y"]


@pytest.mark.parametrize("committed", [True, False])
def test_transactions_are_seen_as_told(broker: ScriptedBroker, logs: Logs, committed: bool) -> None:
    read(broker, committed=committed)

    asked = [each.isolation_level for api in ("ListOffsets", "Fetch") for each in broker.requests(api)]
    assert set(asked) == {int(committed)}


def test_what_is_no_place_is_refused(broker: ScriptedBroker, logs: Logs) -> None:
    with pytest.raises(Refused, match="'first' is no place in a topic: say 'earliest'"):
        read(broker, start="first")
    with pytest.raises(Refused, match="there is no topic 'nosuch'"):
        read_topic("nosuch", bootstrap=broker.bootstrap)


def test_others_take_the_table_as_it_is(broker: ScriptedBroker, logs: Logs) -> None:
    table = andiron.read_topic("t", bootstrap=broker.bootstrap, headers=True)

    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["value"].tolist() == [b"a", b"b", b"c", b"d", b"x", b"y"]
    assert polars.from_arrow(table).filter(polars.col("partition") == 1)["value"].to_list() == [b"x", b"y"]
    counted = duckdb.from_arrow(table).aggregate('partition, count(*), max("offset")').order("partition")
    assert counted.fetchall() == [(0, 4, 3), (1, 2, 1)]


def test_importing_andiron_needs_no_pyarrow() -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None; import andiron, andiron.cli.main, andiron.client.blocking\n"
        "try: andiron.read_topic\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "andiron.read_topic needs pyarrow: pip install 'andiron[arrow]'\n"


def test_there_is_no_more_in_andiron_than_it_says() -> None:
    assert not hasattr(andiron, "write_topic")


def test_the_cluster_is_that_of_the_environment_if_none_is_given(
    broker: ScriptedBroker, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDIRON_BOOTSTRAP", broker.bootstrap)

    assert read_topic("t").num_rows == read_topic("t", bootstrap=broker.bootstrap).num_rows > 0


def test_without_pyarrow_there_is_one_error_and_not_the_story_of_two() -> None:
    program = "import sys; sys.modules['pyarrow'] = None; import andiron; andiron.read_topic"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.stderr.count("Traceback") == 1
    assert done.stderr.endswith(
        "ImportError: andiron.read_topic needs pyarrow: pip install 'andiron[arrow]'\n"
    )
