"""What a task does with its rows, and what it tells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pyarrow as pa
import pytest

from andiron.model.errors import ProtocolError
from andiron.spark import steps
from andiron.spark.sink.commit_protocol import BatchWrite, decide, register, settle
from andiron.spark.sink.decision import Sink, SinkError
from andiron.spark.sink.job_commit import abort_job, commit_job
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.ledger_request import ListOpen
from andiron.spark.sink.row_writer import RowWriter
from andiron.spark.sink.task_report import prepared_batch
from peers.waiting import eventually
from unit.spark.sinking import Field, into, node_in, rows


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    with node_in(tmp_path_factory.mktemp("node")) as node, contextlib.closing(Field(node)) as made:
        yield made


@pytest.fixture
def topic(field: Field) -> str:
    return field.topics.make(2)


@pytest.fixture
def writer(field: Field, topic: str) -> RowWriter:
    return RowWriter(field.client, field.options(), into(topic))


@pytest.fixture
def write(field: Field) -> BatchWrite:
    return BatchWrite(Sink(field.new_query()), 0, "run")


def test_a_batch_of_two_tasks_is_decided(
    field: Field, topic: str, writer: RowWriter, write: BatchWrite, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[str] = []
    monkeypatch.setattr(steps, "reached", lambda step, _: passed.append(step))
    told = [writer.write_decided(write, [rows("ab"), rows("c")], first=True)]
    told += [writer.write_decided(write, [rows("d")], first=False)]
    assert field.topics.values(topic) == []

    Ledger(field.client).perform(decide(write, prepared_batch(told)))

    eventually(lambda: field.topics.values(topic) == ["a", "b", "c", "d"])
    assert passed == [*steps.TASK_STEPS, *steps.TASK_STEPS, *steps.DRIVER_STEPS]


def test_a_task_without_rows_opens_nothing(field: Field, writer: RowWriter, write: BatchWrite) -> None:
    told = writer.write_decided(write, [rows("")], first=True)

    assert told.participant is None
    assert told.term is not None
    assert not [
        each for each in field.transactions.transactions() if write.sink.participants in each.transactional_id
    ]


def test_a_batch_that_was_decided_is_read_and_not_written(
    field: Field, topic: str, writer: RowWriter, write: BatchWrite
) -> None:
    told = [writer.write_decided(write, [rows("a")], first=True)]
    Ledger(field.client).perform(decide(write, prepared_batch(told)))
    left = iter([rows("a"), rows("b")])

    again = writer.write_decided(write._replace(run="next"), left, first=True)

    assert list(left) == [], "all of it is read, for the state that hangs on it"
    assert (again.term, again.participant, again.rows) == (None, None, {})
    Ledger(field.client).perform(decide(write._replace(run="next"), prepared_batch([again])))
    eventually(lambda: field.topics.values(topic) == ["a"])


def test_a_task_that_fails_leaves_nothing_behind(
    field: Field, topic: str, writer: RowWriter, write: BatchWrite
) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield rows("ab")
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        writer.write_decided(write, failing(), first=True)

    (opened,) = [
        each.transactional_id
        for each in field.transactions.transactions()
        if each.transactional_id.startswith(write.sink.participants)
    ]
    eventually(lambda: field.state(opened) in ("Empty", "CompleteAbort"))
    assert field.topics.values(topic) == []


def test_a_task_whose_run_was_superseded_meanwhile_takes_back_what_it_wrote(
    field: Field, topic: str, writer: RowWriter, write: BatchWrite
) -> None:
    def overtaken() -> Iterator[pa.RecordBatch]:
        Ledger(field.client).perform(register(write._replace(run="next")))
        yield rows("ab")

    with pytest.raises(SinkError, match="was taken over by another run"):
        writer.write_decided(write, overtaken(), first=True)

    eventually(lambda: Ledger(field.client)._list_open(write.sink) == {})
    assert field.topics.values(topic) == []


def test_without_two_phase_commit_a_decided_part_that_timed_out_is_written_again(
    field: Field, topic: str, write: BatchWrite, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"kafka.transaction.timeout.ms": "300", "kafka.transaction.two.phase.commit.enable": "false"}
    mortal = RowWriter(field.client, field.options(**told), into(topic))
    messages = [mortal.write_decided(write, [rows("abc")], first=True)]

    class Killed(BaseException):
        pass

    def die(step: str, _: int) -> None:
        if step == "after_decision":
            raise Killed

    monkeypatch.setattr(steps, "reached", die)
    with pytest.raises(Killed):
        Ledger(field.client).perform(decide(write, prepared_batch(messages)))
    participant = messages[0].participant
    assert participant is not None and messages[0].term is not None
    name = participant.transactional_id(write.sink, messages[0].term)
    eventually(lambda: field.state(name) == "CompleteAbort")

    monkeypatch.setattr(steps, "reached", lambda step, batch: None)
    with pytest.raises(SinkError, match="start the query again, which writes these 3 rows again"):
        Ledger(field.client).perform(settle(write))
    again = write._replace(run="next")
    lasting = RowWriter(
        field.client, field.options(), into(topic)
    )  # where two-phase commit has come meanwhile
    Ledger(field.client).perform(
        decide(again, prepared_batch([lasting.write_decided(again, [rows("a"), rows("bc")], first=True)]))
    )
    eventually(lambda: field.topics.values(topic) == ["a", "b", "c"])
    assert lasting.write_decided(write._replace(run="third"), [rows("abc")], first=True).term is None


def test_one_may_go_on_without_what_timed_out(
    field: Field, topic: str, write: BatchWrite, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"kafka.transaction.timeout.ms": "300", "kafka.transaction.two.phase.commit.enable": "false"}
    mortal = RowWriter(field.client, field.options(**told), into(topic))
    message = mortal.write_decided(write, [rows("abc")], first=True)
    monkeypatch.setattr(Ledger, "_commit_participant", lambda *_: False)

    with pytest.raises(SinkError, match="writes these 3 rows again"):
        Ledger(field.client).perform(decide(write, prepared_batch([message])))
    Ledger(field.client).perform(settle(write, forgiving=True))


def test_tasks_of_a_job_are_committed_together(field: Field, topic: str, writer: RowWriter) -> None:
    job = Sink(field.new_query())
    told = [writer.write_together(job, [rows("ab")]), writer.write_together(job, [rows("c")])]
    told += [writer.write_together(job, [])]
    assert field.topics.values(topic) == []

    Ledger(field.client).perform(commit_job(job, prepared_batch(told).participants))

    eventually(lambda: field.topics.values(topic) == ["a", "b", "c"])


@pytest.mark.parametrize("committed", [True, False])
def test_a_task_that_comes_when_its_job_has_ended_leaves_nothing_open(
    field: Field, topic: str, writer: RowWriter, committed: bool
) -> None:
    job = Sink(field.new_query())
    Ledger(field.client).perform(commit_job(job, []) if committed else abort_job(job))

    with pytest.raises(SinkError, match="the job has ended"):
        writer.write_together(job, [rows("ab")])

    assert Ledger(field.client).answer(ListOpen(job)) == {}
    assert field.topics.values(topic) == []


def test_at_least_once_rows_count_one_by_one(field: Field, topic: str, writer: RowWriter) -> None:
    told = writer.write_one_by_one([rows("ab")], batch=0)

    assert (told.rows, told.write) == ({topic: 2}, None)
    assert field.topics.values(topic) == ["a", "b"]
    assert writer.write_one_by_one([], batch=0).rows == {}


def test_what_the_broker_refuses_fails_the_task(field: Field, write: BatchWrite) -> None:
    small = field.topics.make(max_message_bytes="100")
    writer = RowWriter(field.client, field.options(), into(small))

    with pytest.raises(ProtocolError, match=r"raise the topic's max\.message\.bytes"):
        writer.write_decided(write, [rows(["x" * 1000])], first=True)
