"""A batch reads from one place to another, as both are when it is read."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator

import pytest

from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.batch import BatchReader, Piece, Task, pieces
from andiron.spark.source.plan import DataLoss, Range
from andiron.spark.source.topics import Unreachable
from unit.spark.world import World

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2, 10, 20)
        yield made


def reader(world: World, **given: str) -> BatchReader:
    return BatchReader(world.options(streaming=False, **given))


def ranges(made: BatchReader) -> list[Range]:
    """What all tasks of a read have to read, if they run now."""
    return [each for task in made.partitions() for each in made._now(task.value)]


def rows(made: BatchReader, tasks: list) -> list[tuple[int, int]]:
    """The partition and the offset of every row, as tasks read them."""
    there = pickle.loads(pickle.dumps(made))
    batches = [batch for task in tasks for batch in there.read(pickle.loads(pickle.dumps(task)))]
    return sorted((row["partition"], row["offset"]) for each in batches for row in each.to_pylist())


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


@pytest.mark.parametrize("fails", ["true", "false"])
def test_an_end_before_the_start_is_refused(world: World, fails: str) -> None:
    with pytest.raises(SettingError, match="t-0 would start at offset 11, after its end at 10"):
        ranges(reader(world, startingOffsets='{"t":{"0":11,"1":0}}', failOnDataLoss=fails))


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


# ── the same tasks, action after action ──────────────────────────────────────────────


def every(*ends: int) -> list[tuple[int, int]]:
    return [(partition, offset) for partition, end in enumerate(ends) for offset in range(end)]


def test_the_latest_is_that_of_the_moment_of_reading(world: World) -> None:
    made = reader(world, minPartitions="5")
    tasks = made.partitions()
    assert rows(made, tasks) == every(10, 20)

    world.write("t", 0, 3)
    world.write("t", 1, 1)
    assert len(tasks) == 5
    assert rows(made, tasks) == every(13, 21)


def test_so_is_the_earliest_and_what_is_deleted_meanwhile_is_no_loss(world: World) -> None:
    made = reader(world, maxRecordsPerPartition="4")
    tasks = made.partitions()
    world.delete_before("t", 1, 18)

    assert rows(made, tasks) == [*every(10), (1, 18), (1, 19)]


def test_partitions_that_were_empty_or_not_there_are_read_too(world: World) -> None:
    world.make("u", 2)
    made = reader(world, subscribe="t,u")
    tasks = made.partitions()
    world.write("u", 1, 2)
    world.grow("t", 3)
    world.write("t", 2, 1)

    assert len(tasks) == 2
    assert rows(made, tasks) == sorted([*every(10, 20, 1), (1, 0), (1, 1)])


def test_a_topic_without_records_is_read_when_it_has_some(world: World) -> None:
    world.make("u")
    made = reader(world, subscribe="u")
    tasks = made.partitions()
    assert rows(made, tasks) == []

    world.write("u", 0, 2)
    assert rows(made, tasks) == every(2)


def test_a_topic_made_anew_is_read_as_it_is(world: World) -> None:
    made = reader(world, minPartitions="6")
    tasks = made.partitions()
    world.make("t", 2, 3, 30)

    assert rows(made, tasks) == every(3, 30)


def test_what_was_said_in_numbers_stays(world: World) -> None:
    made = reader(world, startingOffsets='{"t":{"0":2,"1":19}}', endingOffsets='{"t":{"0":4,"1":20}}')
    tasks = made.partitions()
    world.write("t", 0, 3)
    world.write("t", 1, 3)

    assert rows(made, tasks) == [(0, 2), (0, 3), (1, 19)]
    world.delete_before("t", 0, 3)
    with pytest.raises(DataLoss, match="t-0: offsets 2 to 2 are gone"):
        rows(made, tasks)


def test_a_partition_that_no_option_tells_of_is_refused_then_too(world: World) -> None:
    made = reader(world, startingOffsets='{"t":{"0":2,"1":19}}')
    tasks = made.partitions()
    world.grow("t", 3)

    with pytest.raises(SettingError, match="must name every partition"):
        rows(made, tasks)


def test_pieces_are_open_outwards() -> None:
    assert pieces([Range(T0, 3, 5), Range(T0, 5, 7), Range(T0, 7, 9), Range(T1, 0, 1)]) == [
        Piece(T0, None, 5),
        Piece(T0, 5, 7),
        Piece(T0, 7, None),
        Piece(T1, None, None),
    ]


def test_filters_are_left_to_spark(world: World) -> None:
    """Spark gives the tasks that one filter left to every later action on the same DataFrame."""
    assert "pushFilters" not in vars(BatchReader)
    assert [each.value for each in reader(world).partitions()] == [
        Task(Piece(T0)),
        Task(Piece(T1), frozenset([T0, T1])),
    ]
