"""A batch reads from one place to another, and less of it where filters say so."""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pyspark.sql.datasource import EqualTo, GreaterThanOrEqual, In, InputPartition, LessThan

from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.batch import PUSHING_WORKER, BatchReader, FilteredBatchReader, batch_reader
from andiron.spark.source.plan import DataLoss, Range
from andiron.spark.source.topics import Unreachable
from unit.spark.world import World

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2, 10, 20)
        yield made


def reader(world: World, **given: str) -> FilteredBatchReader:
    return FilteredBatchReader(world.options(streaming=False, **given))


def ranges(made: BatchReader) -> list[Range]:
    return [each.value for each in made.partitions()]


def at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def test_everything_is_read_unless_told_otherwise(world: World) -> None:
    world.delete_before("t", 0, 3)

    assert ranges(reader(world)) == [Range(T0, 3, 10), Range(T1, 0, 20)]


def test_a_batch_has_a_start_and_an_end(world: World) -> None:
    made = reader(world, startingOffsets='{"t":{"0":2,"1":-2}}', endingOffsets='{"t":{"0":-1,"1":5}}')

    assert ranges(made) == [Range(T0, 2, 10), Range(T1, 0, 5)]


def test_times_are_starts_and_ends(world: World) -> None:
    world.write("t", 0, 5, time=2000)
    world.write("t", 0, 5, time=3000)

    made = reader(world, assign='{"t":[0]}', startingTimestamp="2000", endingTimestamp="3000")
    assert ranges(made) == [Range(T0, 10, 15)]
    assert ranges(reader(world, assign='{"t":[0]}', endingTimestamp="9000")) == [Range(T0, 0, 20)]


def test_a_batch_is_cut_into_tasks(world: World) -> None:
    assert len(ranges(reader(world, minPartitions="6"))) == 6
    assert max(each.size for each in ranges(reader(world, maxRecordsPerPartition="4"))) == 4


def test_an_end_before_the_start_is_refused(world: World) -> None:
    with pytest.raises(SettingError, match="t-0 would start at offset 11, after its end at 10"):
        ranges(reader(world, startingOffsets='{"t":{"0":11,"1":0}}'))


def test_what_is_not_there_any_more_or_not_yet_is_a_loss(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.delete_before("t", 0, 5)
    given = {"startingOffsets": '{"t":{"0":2,"1":0}}', "endingOffsets": '{"t":{"0":10,"1":25}}'}

    with pytest.raises(
        DataLoss, match=r"t-0: offsets 2 to 4 are gone.*; t-1: offsets 20 to 24 are not there"
    ):
        ranges(reader(world, **given))
    with caplog.at_level(logging.WARNING):
        assert ranges(reader(world, failOnDataLoss="false", **given)) == [Range(T0, 5, 10), Range(T1, 0, 20)]
    assert "offsets 20 to 24 are not there" in caplog.text


def test_a_topic_that_is_not_there_is_told(world: World) -> None:
    with pytest.raises(SettingError, match="there is no topic 'nope'"):
        ranges(reader(world, subscribe="nope"))


def test_a_broker_that_is_not_there_is_told(world: World) -> None:
    made = reader(world)
    world.broker.close()

    with pytest.raises(Unreachable):
        made.partitions()


def test_an_open_transaction_ends_what_is_committed(world: World) -> None:
    world.logs[T1].open_from = 12

    assert ranges(reader(world, **{"kafka.isolation.level": "read_committed"})) == [
        Range(T0, 0, 10),
        Range(T1, 0, 12),
    ]


# ── filters ──────────────────────────────────────────────────────────────────────────


def test_filters_leave_fewer_partitions_and_offsets(world: World) -> None:
    made = reader(world)

    assert made.pushFilters([EqualTo(("partition",), 1), GreaterThanOrEqual(("offset",), 15)]) == []
    assert ranges(made) == [Range(T1, 15, 20)]


def test_filters_can_leave_nothing(world: World) -> None:
    made = reader(world)
    made.pushFilters([In(("topic",), ["u"])])

    assert made.partitions() == []
    assert list(made.read(InputPartition(None))) == []


def test_records_before_a_time_are_not_read_and_those_after_another_are_dropped(world: World) -> None:
    for time in (2000, 3000, 2500):
        world.write("t", 0, 2, time=time)
    made = reader(world)
    filters = [GreaterThanOrEqual(("timestamp",), at(2000)), LessThan(("timestamp",), at(3000))]

    assert made.pushFilters(filters) == []
    (task,) = made.partitions()
    assert task.value == Range(T0, 10, 16)
    rows = [
        each
        for batch in pickle.loads(pickle.dumps(made)).read(task)
        for each in batch.column("offset").to_pylist()
    ]
    assert rows == [10, 11, 14, 15]


def test_filters_that_are_not_understood_are_sparks(world: World) -> None:
    strange = EqualTo(("value",), b"x")

    assert reader(world).pushFilters([strange]) == [strange]


def test_filters_are_taken_where_they_are_given(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    options = world.options(streaming=False)
    monkeypatch.delitem(sys.modules, PUSHING_WORKER, raising=False)
    assert type(batch_reader(options)) is BatchReader

    monkeypatch.setitem(sys.modules, PUSHING_WORKER, sys)
    assert type(batch_reader(options)) is FilteredBatchReader
