"""The task's side of the sink: rows are written in one of three ways (spark_writers.py).

    decided       admitted? ─▶ rows in a transaction of its own ─▶ still wanted? ─▶ prepared
    together      rows in a transaction of its own ─▶ is the job still running?
    one by one    rows

Rows come as Arrow batches and go out as they come, so a task holds no more than one of them and what is in flight. The
first of them opens the transaction: a task without rows opens none.

Read next: task_transaction.py.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import closing

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.spark import steps
from andiron.spark.runtime.python_worker import begin_task
from andiron.spark.sink.commit_protocol import BatchWrite, admit, is_wanted
from andiron.spark.sink.decision import Participant, Pointer, Sink, SinkError, participant_id
from andiron.spark.sink.job_commit import TERM, is_job_closed
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.options import SinkOptions
from andiron.spark.sink.record_columns import RecordColumns
from andiron.spark.sink.task_report import NO_BATCH, TaskReport
from andiron.spark.sink.task_transaction import TaskTransaction, participant_names


class RowWriter:
    """Writes the rows of one task."""

    def __init__(self, client: Client, options: SinkOptions, columns: RecordColumns) -> None:
        self._client, self._options, self._columns = client, options, columns

    def write_decided(self, write: BatchWrite, rows: Iterable[pa.RecordBatch], *, first: bool) -> TaskReport:
        """Write rows in a transaction that the driver decides on; `first` is the task that registers its run."""
        ledger = Ledger(self._client, self._options.timeout_ms)
        forgiving = not self._options.fail_on_data_loss
        pointer = ledger.perform(admit(write, first=first, forgiving=forgiving))
        if pointer is None:
            for _ in rows:  # operators before this one keep their state when all their rows are read
                pass
            return TaskReport(write=write)
        name = participant_names().next_name(write.sink, pointer, write.batch)
        transactional_id = participant_id(write.sink, pointer.term, name)
        two_phase = (
            self._options.two_phase and not pointer.mending
        )  # what is written again is known by its digest
        written = self._write(rows, write.batch, transactional_id, two_phase=two_phase)
        if written is None:
            return TaskReport(write=write, term=pointer.term)
        with closing(written):
            self._check_wanted(ledger, write, pointer, written)
            steps.reached("after_prepare", write.batch)
            participant = Participant(name, written.identity, written.count, written.digest)
            return TaskReport(written.rows, write, pointer.term, participant)

    def write_together(self, job: Sink, rows: Iterable[pa.RecordBatch]) -> TaskReport:
        """Write rows in a transaction that the driver commits with those of the other tasks."""
        name = secrets.token_hex(6)
        written = self._write(rows, NO_BATCH, participant_id(job, TERM, name))
        if written is None:
            return TaskReport()
        with closing(written):
            if Ledger(self._client).perform(is_job_closed(job)):
                written.abort()
                raise SinkError(
                    "the job has ended while this task was writing; nothing of what it wrote counts"
                )
            return TaskReport(written.rows, participant=Participant(name, written.identity, written.count))

    def write_one_by_one(self, rows: Iterable[pa.RecordBatch], batch: int) -> TaskReport:
        """Write rows without a transaction (at_least_once): each counts as soon as it is acknowledged."""
        written = self._write(rows, batch)
        if written is None:
            return TaskReport()
        with closing(written):
            steps.reached("after_prepare", batch)
            return TaskReport(written.rows)

    def _write(
        self,
        rows: Iterable[pa.RecordBatch],
        batch: int,
        transactional_id: str | None = None,
        *,
        two_phase: bool = False,
    ) -> TaskTransaction | None:
        """Write all rows and have them acknowledged; None if there were none."""
        begin_task("write")
        written: TaskTransaction | None = None
        try:
            for some in rows:
                if some.num_rows:
                    if written is None:
                        steps.reached("before_write", batch)
                        written = TaskTransaction(
                            self._client, self._options, self._columns, transactional_id, two_phase=two_phase
                        )
                    written.write(some)
            if written is not None:
                written.flush()
                steps.reached("after_write", batch)
        except BaseException:
            if written is not None:
                written.abort()
                written.close()
            raise
        return written

    def _check_wanted(
        self, ledger: Ledger, write: BatchWrite, pointer: Pointer, written: TaskTransaction
    ) -> None:
        """Abort the transaction if the batch will not be decided any more, rather than leave it to the next run."""
        if not ledger.perform(is_wanted(write, pointer.term)):
            written.abort()
            raise SinkError(f"{write.sink}: batch {write.batch} was taken over by another run, or is decided")
