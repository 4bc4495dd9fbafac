"""The commit protocol of Spark's sink against a broker, without Spark: crashes at every step, and who comes after.

ANDIRON_TEST_PEER=kafka    the same with Apache Kafka, which has no two-phase commit for us: ordinary transactions then
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from andiron.client.blocking.client import Client
from andiron.spark import steps
from andiron.spark.sink.commit_protocol import BatchWrite, admit, decide
from andiron.spark.sink.decision import Sink, SinkError
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.options import parse_sink_options
from andiron.spark.sink.record_columns import RecordColumns
from andiron.spark.sink.row_writer import RowWriter
from andiron.spark.sink.task_report import TaskReport, prepared_batch
from peers import clients
from peers.process import Server
from peers.waiting import eventually


class Killed(BaseException):
    """As by SIGKILL: nothing is tidied up, since nobody expects it."""


class Query:
    """A query whose runs die and are started again; its first batch has rows 0 to 5."""

    def __init__(self, node: Server, topic: str) -> None:
        self.node, self.topic = node, topic
        self.sink = Sink(f"query-{secrets.token_hex(4)}")
        self._runs = itertools.count()

    def run(self, tasks: int = 2) -> None:
        write = BatchWrite(self.sink, 0, f"run{next(self._runs)}")
        told: list[TaskReport] = []
        for number in range(tasks):
            with Client(self.node.bootstrap) as client:
                told.append(self._task(client, write, number, tasks))
        with Client(self.node.bootstrap) as client:
            Ledger(client).perform(decide(write, prepared_batch(told)))

    def _task(self, client: Client, write: BatchWrite, number: int, tasks: int) -> TaskReport:
        values = [f"{row}" for row in range(number, 6, tasks)]
        options = parse_sink_options({"kafka.bootstrap.servers": self.node.bootstrap}, streaming=True)
        writer = RowWriter(client, options, RecordColumns((("value", 0),), self.topic))
        return writer.write_decided(write, [pa.record_batch({"value": values})], first=number == 0)

    def values(self) -> list[str]:
        client = clients.connect("confluent", self.node.bootstrap)
        found = [
            each
            for number in range(2)
            for each in client.read_all(self.topic, partition=number, committed=True)
        ]
        return sorted((each.value or b"").decode() for each in found)


@pytest.fixture
def query(node: Server, make_topic: Callable[..., str]) -> Query:
    return Query(node, make_topic(2))


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def at(step: str) -> None:
        def reached(name: str, _: int) -> None:
            if name == step:
                raise Killed

        monkeypatch.setattr(steps, "reached", reached)

    yield at


@pytest.mark.parametrize("tasks", [1, 2, 3])
@pytest.mark.parametrize("step", steps.STEPS)
def test_whenever_a_run_dies_the_next_one_brings_the_batch_to_its_end(
    query: Query, kill: Callable[[str], None], step: str, tasks: int
) -> None:
    kill(step)
    with pytest.raises(Killed):
        query.run()
    kill("never")

    query.run(tasks)

    eventually(lambda: query.values() == ["0", "1", "2", "3", "4", "5"])
    query.run(tasks)
    assert query.values() == ["0", "1", "2", "3", "4", "5"], "and once more makes no difference"


def test_of_two_runs_the_later_goes_on(query: Query, node: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def overtake(name: str, _: int) -> None:
        if name == "before_decision":
            monkeypatch.setattr(steps, "reached", lambda *_: None)
            query.run()

    monkeypatch.setattr(steps, "reached", overtake)
    query.run()  # it finds the batch decided by the other, which is all that it wanted

    eventually(lambda: query.values() == ["0", "1", "2", "3", "4", "5"])
    with (
        Client(node.bootstrap) as client,
        pytest.raises(SinkError, match="run run0 was superseded by run run1"),
    ):
        Ledger(client).perform(admit(BatchWrite(query.sink, 1, "run0"), first=True))
