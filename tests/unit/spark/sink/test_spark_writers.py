"""Which way of writing a query, a batch write and a write in foreachBatch come to."""

from __future__ import annotations

import contextlib
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from andiron.client.blocking.group_admin import GroupAdmin
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.sink import task_report
from andiron.spark.sink.decision import SinkError
from andiron.spark.sink.spark_writers import BatchSink, StreamSink, batch_writer, stream_writer
from andiron.spark.sink.task_report import Task, TaskReport
from peers.waiting import eventually
from unit.spark.sinking import Field, node_in, rows

SCHEMA = StructType([StructField("value", StringType())])


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with node_in(tmp_path_factory.mktemp("node")) as node, contextlib.closing(Field(node)) as made:
        yield made


class Job:
    """One write, in tasks that Spark would tell what they are."""

    def __init__(self, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
        self.field, self.monkeypatch = field, monkeypatch
        self.topic = field.topics.make(2)
        self.query = field.new_query()

    def options(self, **more: str) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.field.node.bootstrap, "topic": self.topic, **more}

    def stream(self, **more: str) -> StreamSink:
        made: StreamSink = pickle.loads(pickle.dumps(stream_writer(self.options(**more), SCHEMA, False)))
        return made

    def batch(self, **more: str) -> BatchSink:
        made: BatchSink = pickle.loads(pickle.dumps(batch_writer(self.options(**more), SCHEMA, False)))
        return made

    def write(self, writer: StreamSink | BatchSink, value: str, task: Task) -> TaskReport:
        self.monkeypatch.setattr(task_report.Task, "current", lambda: task)
        told: TaskReport = pickle.loads(pickle.dumps(writer.write(iter([rows(value)]))))
        return told

    def in_stream(self, batch: int, run: str = "run") -> Task:
        return Task(0, self.query, batch, run)

    def sees(self, *values: str) -> None:
        eventually(lambda: self.field.topics.values(self.topic) == [*values])


@pytest.fixture
def job(field: Field, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(field, monkeypatch)


def test_a_stream_counts_batch_by_batch(job: Job) -> None:
    for batch, value in enumerate("ab"):
        writer = job.stream()
        told = job.write(writer, value, job.in_stream(batch))
        job.stream().commit([told], batch)

    job.sees("a", "b")


def test_a_batch_that_comes_again_does_not_count_again(job: Job) -> None:
    for run in ("first", "second"):
        told = job.write(job.stream(), "a", job.in_stream(0, run))
        job.stream().commit([told], 0)

    job.sees("a")


def test_what_fails_is_aborted(job: Job, field: Field) -> None:
    told = job.write(job.stream(), "a", job.in_stream(0))
    job.stream().abort([told, None], 0)

    assert told.participant is not None and told.write is not None and told.term is not None
    name = told.participant.transactional_id(told.write.sink, told.term)
    eventually(lambda: field.state(name) in ("Empty", "CompleteAbort"))
    job.sees()


def test_a_failure_to_tidy_up_hides_nothing(job: Job, caplog: pytest.LogCaptureFixture) -> None:
    told = job.write(job.stream(), "a", job.in_stream(0))
    nowhere = {"kafka.bootstrap.servers": "localhost:1", "kafka.default.api.timeout.ms": "100"}
    elsewhere = job.stream(**nowhere)

    elsewhere.abort([told], 0)

    assert "Prepared transactions cannot be aborted now" in caplog.text


def test_at_least_once_a_batch_that_comes_again_counts_again(job: Job) -> None:
    for run in ("first", "second"):
        writer = job.stream(**{"delivery.guarantee": "at_least_once"})
        told = job.write(writer, "a", job.in_stream(0, run))
        writer.commit([told], 0)

    job.sees("a", "a")


def note_offsets(checkpoint: Path, source: str, offset: int) -> None:
    """What Spark has in its checkpoint of batch 0."""
    (checkpoint / "offsets").mkdir()
    (checkpoint / "offsets" / "0").write_text(f"v1\n{{}}\n{json.dumps({source: {'0': offset}})}")


def committed(field: Field, group: str) -> dict[TopicPartition, int]:
    return {at: each.offset for at, each in GroupAdmin(field.client).committed(group).items()}


def test_the_sources_offsets_are_committed_with_the_rows(job: Job, field: Field, tmp_path: Path) -> None:
    source = field.topics.make()
    note_offsets(tmp_path, source, 17)
    writer = job.stream(**{"group.id": job.query, "checkpointLocation": str(tmp_path)})
    told = job.write(writer, "a", job.in_stream(0))

    writer.commit([told], 0)

    eventually(lambda: committed(field, job.query) == {TopicPartition(source, 0): 17})
    job.sees("a")


def test_so_they_are_in_for_each_batch(job: Job, field: Field, tmp_path: Path) -> None:
    source = field.topics.make()
    note_offsets(tmp_path, source, 17)
    options = {"sink.id": "s", "group.id": job.query, "checkpointLocation": str(tmp_path)}
    writer = job.batch(**options)
    told = job.write(writer, "a", job.in_stream(0))

    writer.commit([told])

    eventually(lambda: committed(field, job.query) == {TopicPartition(source, 0): 17})
    job.sees("a")


def test_without_the_sources_offsets_the_batch_does_not_count(job: Job, tmp_path: Path) -> None:
    writer = job.stream(**{"group.id": job.query, "checkpointLocation": str(tmp_path)})
    told = job.write(writer, "a", job.in_stream(0))

    with pytest.raises(SettingError, match=r"group\.id: the source's offsets are not to be had"):
        writer.commit([told], 0)
    job.sees()


def test_a_batch_write_is_seen_when_all_tasks_are_done(job: Job) -> None:
    writer = job.batch()
    told = [job.write(writer, value, Task(number)) for number, value in enumerate("ab")]
    job.sees()

    writer.commit([*told])

    job.sees("a", "b")


def test_a_batch_write_that_fails_is_not_seen(job: Job) -> None:
    writer = job.batch()
    told = job.write(writer, "a", Task(0))
    writer.abort([told, None])

    with pytest.raises(SinkError, match="nothing was written"):
        writer.commit([told])
    job.sees()


def test_in_foreach_batch_a_write_with_an_id_counts_once(job: Job) -> None:
    for run in ("first", "second"):
        writer = job.batch(**{"sink.id": "out"})
        writer.commit([job.write(writer, "a", job.in_stream(0, run))])

    job.sees("a")


def test_in_foreach_batch_two_writes_with_one_id_are_refused(job: Job) -> None:
    first, second = job.batch(**{"sink.id": "out"}), job.batch(**{"sink.id": "out"})
    first.commit([job.write(first, "a", job.in_stream(0))])

    with pytest.raises(SinkError, match="is written twice in one run"):
        job.write(second, "b", job.in_stream(0))


def test_in_foreach_batch_a_write_without_id_is_at_least_once(job: Job) -> None:
    for run in ("first", "second"):
        writer = job.batch()
        writer.commit([job.write(writer, "a", job.in_stream(0, run))])

    job.sees("a", "a")


def test_in_foreach_batch_exactly_once_needs_an_id(job: Job) -> None:
    writer = job.batch(**{"delivery.guarantee": "exactly_once"})

    with pytest.raises(SinkError, match=r"needs a sink\.id"):
        job.write(writer, "a", job.in_stream(0))


def test_a_topic_is_not_overwritten(job: Job) -> None:
    with pytest.raises(SinkError, match="cannot be overwritten"):
        batch_writer(job.options(), SCHEMA, True)


def test_in_complete_mode_all_rows_are_appended_anew(job: Job) -> None:
    assert isinstance(stream_writer(job.options(), SCHEMA, True), StreamSink)


def test_columns_are_checked_before_anything_is_read(job: Job) -> None:
    with pytest.raises(SinkError, match="column `value` is int"):
        stream_writer(job.options(), StructType([StructField("value", IntegerType())]), False)


def test_what_has_no_effect_is_warned_of(job: Job, caplog: pytest.LogCaptureFixture) -> None:
    job.stream(**{"kafka.metric.reporters": "x"})

    assert "kafka.metric.reporters has no effect on this sink" in caplog.text
