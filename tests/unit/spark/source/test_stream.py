"""What a stream tells Spark, call by call."""

from __future__ import annotations

import logging
import pickle
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxRows, ReadMinRows

from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source import stream as streaming
from andiron.spark.source.plan import DataLoss, Range
from andiron.spark.source.stream import StreamReader
from andiron.spark.source.topics import Unreachable
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_log_dirs import DescribeLogDirsResponse
from unit.spark.world import World

T0, T1, T2 = (TopicPartition("t", each) for each in range(3))
ALL = ReadAllAvailable()
ROWS = ReadMaxRows(1)  # the reader knows its limits itself; this says that they count


@pytest.fixture
def world() -> Iterator[World]:
    with World() as made:
        made.make("t", 2, 10, 20)
        yield made


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("andiron.spark.source.log_ends.PACE_S", -1.0)


def reader(world: World, **given: str) -> StreamReader:
    return StreamReader(world.options(**{"startingOffsets": "earliest", **given}))


def t(*offsets: int, id: int | None = 1) -> dict[str, Any]:
    """An offset of the topic t, which is the first one made; None: of a source that knows no ids."""
    told: dict[str, Any] = {"t": {str(i): offset for i, offset in enumerate(offsets)}}
    return told if id is None else told | {f"t@{urlsafe_b64encode(id.to_bytes(16)).decode().rstrip('=')}": {}}


BEGUN: dict[str, Any] = {"t@0=10,1=20": {}}


def ranges(made: StreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[Range]:
    return [each.value for each in made.partitions(start, end)]


# ── the start ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "start"),
    [
        ({"startingOffsets": "earliest"}, t(3, 0)),
        ({"startingOffsets": "latest"}, t(10, 20)),
        ({"startingOffsets": '{"t":{"0":-1,"1":7}}'}, t(10, 7)),
        ({"startingTimestamp": "1000"}, t(3, 0)),
        ({"startingTimestamp": "5000", "startingOffsetsByTimestampStrategy": "latest"}, t(10, 20)),
    ],
)
def test_a_query_starts_where_it_was_told_to(
    world: World, given: dict[str, str], start: dict[str, Any]
) -> None:
    world.delete_before("t", 0, 3)

    assert reader(world, **given).initialOffset() == start


def test_the_end_of_the_first_batch_says_where_it_begins(world: World) -> None:
    made = reader(world, startingOffsets="latest")
    start = made.initialOffset()
    world.write("t", 0, 5)

    assert made.initialOffset() == start, "once found it stays"
    first = made.latestOffset(start, ALL)
    assert first == t(15, 20) | BEGUN
    assert ranges(made, start, first) == [Range(TopicPartition("t", 0), 10, 15)]
    assert made.latestOffset(first, ALL) == first, "and it is said once"
    world.write("t", 1, 1)
    assert made.latestOffset(first, ALL) == t(15, 21)


def test_a_first_batch_that_is_run_again_begins_where_it_began(world: World) -> None:
    first = t(12, 20) | BEGUN
    world.write("t", 0, 5)
    world.grow("t", 3)
    again = reader(world, startingOffsets="latest")

    assert again.initialOffset() == t(15, 20, 0)
    assert ranges(again, t(15, 20, 0), first) == [Range(TopicPartition("t", 0), 10, 12)]
    assert again.latestOffset(first, ALL) == t(15, 20, 0), "and goes on at once"


def test_what_a_first_batch_has_lost_when_it_is_run_again_is_told(world: World) -> None:
    world.delete_before("t", 0, 5)
    again = reader(world)
    start = again.initialOffset()

    with pytest.raises(DataLoss, match="t-0"):
        again.partitions(start, t(10, 20) | {"t@0=0,1=0": {}})


def test_an_empty_first_batch_of_an_earlier_version_loses_nothing(world: World) -> None:
    world.write("t", 0, 5)
    again = reader(world, startingOffsets="latest")

    assert ranges(again, again.initialOffset(), t(10, 20)) == []


def test_a_query_that_goes_on_says_no_start(world: World) -> None:
    assert reader(world).latestOffset(t(4, 4), ALL) == t(10, 20)


def test_a_start_beyond_the_log_is_a_loss(world: World, caplog: pytest.LogCaptureFixture) -> None:
    beyond = {"startingOffsets": '{"t":{"0":11,"1":0}}'}

    with pytest.raises(DataLoss, match="startingOffsets: 11 for t-0, and its log ends at 10"):
        reader(world, **beyond).initialOffset()
    with caplog.at_level(logging.WARNING):
        assert reader(world, failOnDataLoss="false", **beyond).initialOffset() == t(10, 0)
    assert "startingOffsets: 11 for t-0" in caplog.text


def test_a_topic_that_is_not_there_is_told(world: World) -> None:
    with pytest.raises(SettingError, match="there is no topic 'nope'"):
        reader(world, subscribe="nope").initialOffset()


def test_a_broker_that_is_not_there_is_told(world: World) -> None:
    made = reader(world)
    world.broker.close()

    with pytest.raises(Unreachable, match="is it running"):
        made.initialOffset()


# ── how far a batch goes ─────────────────────────────────────────────────────────────


def test_limits_count_unless_everything_is_asked_for(world: World) -> None:
    made = reader(world, maxOffsetsPerTrigger="15")

    assert made.latestOffset(t(0, 0), ROWS) == t(5, 10)
    assert made.latestOffset(t(0, 0), ALL) == t(10, 20)


def test_bytes_are_counted_by_the_size_of_the_logs(world: World) -> None:
    size = sum(len(data) for log in world.logs.values() for data in log.batches)
    made = reader(world, maxBytesPerTrigger=str(size // 2))

    end = made.latestOffset(t(0, 0), ROWS)
    assert 14 <= sum(end["t"].values()) <= 16


def test_a_small_batch_waits_for_more_or_for_the_delay(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(streaming.time, "monotonic", lambda: now[0])
    made = reader(world, minOffsetsPerTrigger="10", maxTriggerDelay="5s")
    assert made.latestOffset(t(0, 0), ROWS) == t(10, 20), "the first one does not wait"

    world.write("t", 0, 9)
    assert made.latestOffset(t(10, 20), ROWS) == t(10, 20)
    now[0] += 5
    assert made.latestOffset(t(10, 20), ROWS) == t(19, 20)
    world.write("t", 0, 10)
    assert made.latestOffset(t(19, 20), ROWS) == t(29, 20)


def test_available_now_ends_where_the_log_ended_and_waits_for_nothing(world: World) -> None:
    made = reader(world, minOffsetsPerTrigger="1000", maxOffsetsPerTrigger="1000")
    made.prepareForTriggerAvailableNow()
    world.write("t", 0, 5)
    start = made.initialOffset()
    made.latestOffset(start, ROWS)
    world.grow("t", 3)

    assert made.latestOffset(t(0, 0), ROWS) == t(10, 20)
    assert made.latestOffset(t(10, 20), ROWS) == t(10, 20)


def test_latest_with_available_now_is_an_empty_run(world: World) -> None:
    made = reader(world, startingOffsets="latest")
    made.prepareForTriggerAvailableNow()
    world.write("t", 0, 5)
    start = made.initialOffset()

    first = made.latestOffset(start, ALL)
    assert first == start | BEGUN
    assert made.latestOffset(first, ALL) == first


def test_the_limit_that_spark_is_told_is_one_of_ours(world: World) -> None:
    assert reader(world).getDefaultReadLimit() == ReadAllAvailable()
    assert reader(world, minOffsetsPerTrigger="3").getDefaultReadLimit() == ReadMinRows(3)
    assert reader(world, maxBytesPerTrigger="4").getDefaultReadLimit() == ReadMaxBytes(4)
    both = reader(world, minOffsetsPerTrigger="3", maxOffsetsPerTrigger="9", maxBytesPerTrigger="4")
    assert both.getDefaultReadLimit() == ReadMaxRows(9)


def test_the_latest_is_reported_as_last_seen(world: World) -> None:
    made = reader(world, maxOffsetsPerTrigger="3")
    assert made.reportLatestOffset() is None

    made.latestOffset(t(0, 0), ROWS)
    assert made.reportLatestOffset() == t(10, 20, id=None)


# ── what a batch reads ───────────────────────────────────────────────────────────────


def test_a_batch_is_cut_into_tasks(world: World) -> None:
    made = reader(world, minPartitions="3")

    assert ranges(made, t(0, 0), t(10, 20)) == [Range(T0, 0, 10), Range(T1, 0, 10), Range(T1, 10, 20)]
    assert ranges(reader(world, maxRecordsPerPartition="7"), t(4, 20), t(10, 20)) == [Range(T0, 4, 10)]


def test_new_partitions_are_read_from_their_beginning(world: World) -> None:
    made = reader(world)
    made.latestOffset(t(10, 20), ALL)
    world.grow("t", 3)
    world.write("t", 2, 4)
    end = made.latestOffset(t(10, 20), ALL)

    assert end == t(10, 20, 4)
    assert ranges(made, t(10, 20), end) == [Range(T2, 0, 4)]


def test_a_copy_for_the_tasks_reads(world: World) -> None:
    made = reader(world)
    made.latestOffset(t(0, 0), ALL)
    copy = pickle.loads(pickle.dumps(made))
    (task,) = made.partitions(t(8, 20), t(10, 20))

    (rows,) = copy.read(pickle.loads(pickle.dumps(task)))
    assert rows.column("offset").to_pylist() == [8, 9]


def test_deleted_records_fail_the_query_or_are_passed_over(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.delete_before("t", 1, 15)

    with pytest.raises(DataLoss, match="t-1: offsets 5 to 14 are gone"):
        reader(world).partitions(t(10, 5), t(10, 20))
    with caplog.at_level(logging.WARNING):
        lax = reader(world, failOnDataLoss="false", maxOffsetsPerTrigger="4")
        assert lax.latestOffset(t(10, 5), ROWS) == t(10, 19), "the limit is for what is there"
        assert ranges(lax, t(10, 5), t(10, 19)) == [Range(T1, 15, 19)]
    assert "t-1: offsets 5 to 14 are gone" in caplog.text


def test_a_topic_made_anew_fails_the_query_or_begins_anew(world: World) -> None:
    """Also the first time that a run asks, and also where the new log is longer than what was read."""
    world.drop("t")
    world.make("t", 2, 30, 25)

    with pytest.raises(DataLoss, match="t-0, t-1: deleted and made anew"):
        reader(world).latestOffset(t(10, 20), ALL)
    lax = reader(world, failOnDataLoss="false")
    assert lax.latestOffset(t(10, 20), ALL) == {}
    assert ranges(lax, t(10, 20), {}) == []
    assert lax.latestOffset({}, ALL) == t(30, 25, id=2)
    assert ranges(lax, {}, t(30, 25, id=2)) == [Range(T0, 0, 30), Range(T1, 0, 25)]


def test_a_topic_made_anew_before_a_batch_is_run_again_is_not_read_for_it(world: World) -> None:
    world.drop("t")
    world.make("t", 2, 30, 25)

    with pytest.raises(DataLoss, match="t-0: gone, before it was read up to offset 8"):
        reader(world).partitions(t(4, 20), t(8, 20))
    assert reader(world, failOnDataLoss="false").partitions(t(4, 20), t(8, 20)) == []


def test_ids_that_a_checkpoint_lacks_are_written_down_at_once(world: World) -> None:
    made = reader(world)

    assert made.latestOffset(t(10, 20, id=None), ALL) == t(10, 20)
    assert made.partitions(t(10, 20, id=None), t(10, 20)) == []
    assert made.latestOffset(t(10, 20), ALL) == t(10, 20)


def test_a_broker_without_ids_is_read_without(world: World) -> None:
    world.broker.topics["t"].topic_id = bytes(16)
    made = reader(world)

    assert made.latestOffset(made.initialOffset(), ALL) == t(10, 20, id=None) | {"t@0=0,1=0": {}}
    assert made.latestOffset(t(10, 5, id=None), ALL) == t(10, 20, id=None)


def test_a_batch_planned_before_the_log_was_cut_fails(world: World) -> None:
    with pytest.raises(DataLoss, match="t-0: offsets 10 to 14 are not there, its log ends at 10"):
        reader(world).partitions(t(0, 20), t(15, 20))


def test_progress_is_mirrored_when_a_batch_is_done(world: World) -> None:
    made = reader(world, **{"group.id": "report"})
    made.initialOffset()
    for done in (t(0, 0), t(0, 0), t(5, 5)):
        made.latestOffset(done, ALL)

    assert world.committed == {("report", T0): 5, ("report", T1): 5}
    made.stop()
    made.stop()


@pytest.mark.parametrize(
    ("error", "is_quiet"), [(EOFError(), True), (BrokenPipeError(), True), (OSError(), False)]
)
def test_a_process_that_spark_has_hung_up_on_ends_without_a_word(
    world: World,
    error: Exception,
    is_quiet: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    try:
        raise error
    except (OSError, EOFError):
        reader(world).stop()

    sys.excepthook(type(error), error, None)
    assert (capsys.readouterr().err == "") == is_quiet


def test_a_slip_of_the_pen_is_told_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    made = reader(world, failOnDataLos="false")
    made.initialOffset()
    made.latestOffset(t(0, 0), ALL)

    assert caplog.text.count("is failOnDataLoss meant?") == 1


def test_sizes_that_are_not_to_be_had_limit_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    refused = ErrorCode.CLUSTER_AUTHORIZATION_FAILED.number
    world.broker.on(ApiKey.DESCRIBE_LOG_DIRS, lambda _: DescribeLogDirsResponse(error_code=refused))
    made = reader(world, maxBytesPerTrigger="1")

    assert made.latestOffset(t(0, 0), ROWS) == t(10, 20)
    assert "Option maxBytesPerTrigger has no effect" in caplog.text
