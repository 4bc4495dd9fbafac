"""The sink without Spark: a process that does what tasks and drivers do, batch after batch, and is killed meanwhile.

    python -m kills.bare FOLDER

    offsets/N, where a batch ends ─▶ a task a partition: RowWriter ─▶ decide ─▶ commits/N

Each life is a fork of a process that has imported everything, so that hundreds of deaths of a driver are a matter of
minutes. What is left out is Spark's; kills/driver.py has that.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
import uuid
from pathlib import Path

import pyarrow as pa

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.core.descriptions import LATEST
from andiron.model.ids import TopicPartition
from andiron.spark.sink.commit_protocol import BatchWrite, decide
from andiron.spark.sink.decision import Sink, SinkError
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.options import SinkOptions, parse_sink_options
from andiron.spark.sink.record_columns import RecordColumns
from andiron.spark.sink.row_writer import RowWriter
from andiron.spark.sink.task_report import prepared_batch
from kills.cells import Plan
from kills.jobs import Stage
from kills.striking import ROOT

FIRED, INPUT_DONE = "all-fired", "input-done"
ROWS_PER_PARTITION = 20
FAILURES_MAX = 20
# The hasty one's transactions are aborted while it is away; nobody stays away so long that a patient one's are.
TIMEOUTS_MS = {"hasty": 1_000, "patient": 900_000}
AWAY_S = {"hasty": 1.5, "patient": 0.0}


class Query:
    """One job over its checkpoint."""

    def __init__(self, folder: str, name: str, stage: Stage, client: Client) -> None:
        self.name, self.stage, self.client = name, stage, client
        self.plan = Plan(folder)
        self.folder = Path(folder)
        self.checkpoint = Path(stage.checkpoint)
        for part in ("offsets", "commits"):
            (self.checkpoint / part).mkdir(parents=True, exist_ok=True)
        self.partitions = [TopicPartition(stage.source, number) for number in (0, 1)]

    def run(self) -> None:
        """Until everybody is dead who is to die, the input has ended, and all of it is written."""
        run = uuid.uuid4().hex
        batch = len(list((self.checkpoint / "commits").iterdir()))
        while True:
            if not self.plan.left(self.name):
                (self.folder / FIRED).touch()
            done = (self.folder / INPUT_DONE).exists()  # before it is asked how much there is
            starts, ends = self._ranges(batch)
            if starts != ends:
                self._write(batch, run, starts, ends)
                _note(self.checkpoint / "commits" / str(batch), [])
                batch += 1
            elif done:
                return
            else:
                time.sleep(0.05)

    def _ranges(self, batch: int) -> tuple[list[int], list[int]]:
        """Where the batch begins and ends, the same each time it is run."""
        before = self.checkpoint / "offsets" / str(batch - 1)
        starts = json.loads(before.read_text()) if batch else [0] * len(self.partitions)
        noted = self.checkpoint / "offsets" / str(batch)
        if not noted.exists():
            there = Admin(self.client).list_offsets(dict.fromkeys(self.partitions, LATEST))
            logs = [there[each].offset for each in self.partitions]
            ends = [min(start + ROWS_PER_PARTITION, end) for start, end in zip(starts, logs, strict=True)]
            if starts == ends:
                return starts, ends
            _note(noted, ends)
        return starts, json.loads(noted.read_text())

    def _write(self, batch: int, run: str, starts: list[int], ends: list[int]) -> None:
        write = BatchWrite(Sink(self.name), batch, run)
        told = []
        for number, partition in enumerate(self.partitions):
            rows = self._rows(partition, starts[number], ends[number])
            writer = RowWriter(
                self.client, self._options(), RecordColumns((("value", 0),), self.stage.target)
            )
            told.append(writer.write_decided(write, rows, first=number == 0))
        groups = {f"{self.stage.target}-progress": dict(zip(self.partitions, ends, strict=True))}
        Ledger(self.client).perform(decide(write, prepared_batch(told, groups)))

    def _rows(self, partition: TopicPartition, start: int, end: int) -> list[pa.RecordBatch]:
        if start == end:
            return []
        with ColumnReader(self.client, partition, start, end) as reader:
            return [each.select(["value"]) for each in reader]

    def _options(self) -> SinkOptions:
        told = {
            "kafka.bootstrap.servers": self.stage.bootstrap,
            "kafka.transaction.timeout.ms": str(TIMEOUTS_MS[self.name]),
            "kafka.transaction.two.phase.commit.enable": "false",
        }
        return parse_sink_options(told, streaming=True)


def _note(path: Path, told: list[int]) -> None:
    scratch = path.parent.parent / f"{path.parent.name}-{path.name}.new"
    scratch.write_text(json.dumps(told))
    scratch.rename(path)


def main(folder: str) -> None:
    """Live again after every death, until a life comes to its end by itself."""
    status = signal.SIGKILL
    while status == signal.SIGKILL:
        child = os.fork()
        if not child:
            live(folder)
            os._exit(0)
        _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def live(folder: str) -> None:
    """Run the one job that the folder's stage.json names; after a failure again, as a run of its own."""
    os.environ[ROOT] = str(os.getpid())
    told = json.loads(Path(folder, "stage.json").read_text())
    ((name, stage),) = told["stages"].items()
    Path(folder, "job").write_text(name)
    if Plan(folder).fired:
        time.sleep(AWAY_S[name])
    failures = 0
    while True:
        try:
            with Client(stage["bootstrap"]) as client:
                client.reach()
                return Query(folder, name, Stage(**stage), client).run()
        except SinkError:
            traceback.print_exc()
            failures += 1
            if failures > FAILURES_MAX:
                os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
