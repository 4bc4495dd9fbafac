"""What tasks tell is put together by the driver."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark import TaskContext

from andiron.client.core.outbox import ProducerIdentity
from andiron.spark.sink.commit_protocol import BatchWrite
from andiron.spark.sink.decision import Participant, Sink, SinkError
from andiron.spark.sink.task_report import (
    BATCH,
    QUERY,
    Task,
    TaskReport,
    batch_write_of,
    prepared_batch,
    reports_in,
)

WRITE = BatchWrite(Sink("q"), 3, "run")
PARTICIPANT = Participant("w.0.0", ProducerIdentity(1, 0), 5)


def test_a_message_travels() -> None:
    told = TaskReport({"out": 5}, WRITE, "0.0", PARTICIPANT)

    assert pickle.loads(pickle.dumps(told)) == told


def test_tasks_that_told_nothing_are_left_out() -> None:
    told = TaskReport(write=WRITE)

    assert reports_in([None, told, None]) == [told]


def test_all_belong_to_one_write() -> None:
    assert batch_write_of([TaskReport(write=WRITE), TaskReport(write=WRITE)]) == WRITE
    assert batch_write_of([TaskReport(), TaskReport()]) is None
    assert batch_write_of([]) is None
    with pytest.raises(SinkError, match="belong to different batches"):
        batch_write_of([TaskReport(write=WRITE), TaskReport(write=WRITE._replace(batch=4))])


def test_rows_are_added_up_and_participants_collected() -> None:
    prepared = prepared_batch(
        [
            TaskReport({"a": 5, "b": 1}, WRITE, "0.0", PARTICIPANT),
            TaskReport({"a": 2}, WRITE, "0.0", PARTICIPANT._replace(name="w.1.0")),
            TaskReport({}, WRITE, "0.0"),
        ]
    )

    assert prepared.rows == {"a": 7, "b": 1}
    assert [each.name for each in prepared.participants] == ["w.0.0", "w.1.0"]
    assert set(prepared.terms) == {"0.0"}
    assert not prepared.skipped


def test_a_task_that_found_the_batch_decided_says_so() -> None:
    assert prepared_batch([TaskReport(write=WRITE)]).skipped


def context(monkeypatch: pytest.MonkeyPatch, **properties: str) -> None:
    made = object.__new__(TaskContext)
    made._partitionId = 4
    made._localProperties = properties
    monkeypatch.setattr(TaskContext, "_taskContext", made)


def test_a_task_of_a_stream_knows_its_query_batch_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    context(monkeypatch, **{QUERY: "q", BATCH: "7", "spark.app.id": "app", "spark.jobGroup.id": "run"})

    assert Task.current() == Task(4, "q", 7, "app/run")
    assert Task.current().is_in_a_stream


def test_any_other_task_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    context(monkeypatch)

    assert not Task.current().is_in_a_stream


def test_without_a_task_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskContext, "_taskContext", None)

    with pytest.raises(SinkError, match="by Spark's tasks only"):
        Task.current()
