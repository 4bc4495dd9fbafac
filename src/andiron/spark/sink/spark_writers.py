"""The sink behind `format("andiron")`: what Spark calls, and which of three ways of writing it comes to.

    task     write(rows) ─▶ message            driver   commit(messages, batch), or abort

    decided       a stream, or a write in foreachBatch with option sink.id: exactly once by (query, batch),
                  commit_protocol.py
    together      df.write by itself: a transaction a task, committed when all are done, job_commit.py
    one by one    delivery.guarantee=at_least_once, or df.write in foreachBatch without sink.id: what is acknowledged
                  is there, and there again if the batch is repeated

A write in foreachBatch knows its query and its batch by the properties of its job, like a stream's own. There may be
several in one batch, and to Spark they are jobs like any others: sink.id tells them apart.

Read next: row_writer.py for the task's side, commit_protocol.py for the driver's.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from andiron.client.blocking.client import Client
from andiron.model.errors import AndironError
from andiron.model.line import Line
from andiron.model.settings import SettingError
from andiron.spark import steps
from andiron.spark.sink.commit_protocol import BatchWrite, decide, undo
from andiron.spark.sink.decision import Sink, SinkError
from andiron.spark.sink.job_commit import abort_job, commit_job
from andiron.spark.sink.ledger import Ledger
from andiron.spark.sink.ledger_request import GroupOffsets, Procedure
from andiron.spark.sink.options import EXACTLY_ONCE, GUARANTEE, SinkOptions, parse_sink_options
from andiron.spark.sink.record_columns import RecordColumns, record_columns
from andiron.spark.sink.row_writer import RowWriter
from andiron.spark.sink.task_report import Task, TaskReport, batch_write_of, prepared_batch, reports_in
from andiron.spark.tables.checkpoint import Checkpoint, TableError

log = logging.getLogger(__name__)


def stream_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> StreamSink:
    """The sink of a stream; `overwrite` (complete mode) appends all rows anew, as Spark's own Kafka sink does."""
    parsed = parse_sink_options(options, streaming=True)
    return StreamSink(parsed, record_columns(schema, parsed.topic))


def batch_writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> BatchSink:
    """The sink of df.write."""
    if overwrite:
        raise SinkError("a topic cannot be overwritten: say mode('append')")
    parsed = parse_sink_options(options, streaming=False)
    return BatchSink(parsed, record_columns(schema, parsed.topic))


class _Sink:
    """The common part of StreamSink and BatchSink; pickled to drivers and tasks."""

    def __init__(self, options: SinkOptions, columns: RecordColumns) -> None:
        self.options, self.columns = options, columns
        for warning in options.warnings:
            log.warning(Line("Option has no effect, or another than meant", reason=warning))

    def _client(self) -> Client:
        """Each task and each commit has its own; the query runs, so a broker that is away is expected back."""
        client = Client(self.options.bootstrap, self.options.client)
        client.reach()
        return client

    def _perform(self, procedure: Procedure[None]) -> None:
        with self._client() as client:
            Ledger(client, self.options.timeout_ms).perform(procedure)

    def _write_decided(self, write: BatchWrite, rows: Iterator[pa.RecordBatch], task: Task) -> TaskReport:
        with self._client() as client:
            writer = RowWriter(client, self.options, self.columns)
            return writer.write_decided(write, rows, first=task.partition == 0)

    def _write_one_by_one(self, rows: Iterator[pa.RecordBatch], task: Task) -> TaskReport:
        with self._client() as client:
            return RowWriter(client, self.options, self.columns).write_one_by_one(rows, task.batch)

    def _decide(self, write: BatchWrite, reports: Sequence[TaskReport]) -> None:
        forgiving = not self.options.fail_on_data_loss
        self._perform(decide(write, prepared_batch(reports, self._offsets(write.batch)), forgiving=forgiving))

    def _offsets(self, batch: int) -> dict[str, GroupOffsets]:
        """The offsets of the query's sources at the end of the batch, for option group.id."""
        if self.options.group is None or self.options.checkpoint is None:
            return {}
        try:
            ranges = Checkpoint(self.options.checkpoint).ranges(batch)
        except TableError as error:
            raise SettingError("group.id", f"the source's offsets are not to be had: {error}") from error
        return {self.options.group: {each.partition: each.end for each in ranges}}

    def _try(self, procedure: Procedure[None]) -> None:
        """Clean up after a failure: a second one must not hide the first, and the next run cleans up as well."""
        try:
            self._perform(procedure)
        except AndironError as error:
            log.warning(
                Line("Prepared transactions cannot be aborted now; the next run does it", error=error)
            )


class StreamSink(_Sink, DataSourceStreamArrowWriter):
    """writeStream."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskReport:
        """One task's rows."""
        task = Task.current()
        if not self.options.exactly_once:
            return self._write_one_by_one(iterator, task)
        if task.query is None or not task.is_in_a_stream:
            raise SinkError("Spark does not tell this task which query and batch it belongs to")
        return self._write_decided(
            BatchWrite(Sink(task.query, self.options.sink_id), task.batch, task.run), iterator, task
        )

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Decide the batch and commit its transactions, unless that was done already."""
        reports = reports_in(messages)
        write = batch_write_of(reports)
        if write is not None:
            self._decide(write, reports)
        elif any(each.rows for each in reports):
            steps.reached("after_commit", batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Abort the transactions of the batch: a task failed for good, or the commit did."""
        reports = reports_in(messages)
        write = batch_write_of(reports)
        if write is not None:
            self._try(undo(write, prepared_batch(reports)))


class BatchSink(_Sink, DataSourceArrowWriter):
    """df.write, in foreachBatch and elsewhere."""

    def __init__(self, options: SinkOptions, columns: RecordColumns) -> None:
        super().__init__(options, columns)
        self.job = Sink(secrets.token_hex(8))

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskReport:
        """One task's rows."""
        task, options = Task.current(), self.options
        if task.is_in_a_stream and options.guarantee == EXACTLY_ONCE and not options.sink_id:
            raise SinkError(
                f"{GUARANTEE}={EXACTLY_ONCE} in foreachBatch needs a sink.id, another for each write"
            )
        if not options.exactly_once or (task.is_in_a_stream and not options.sink_id):
            return self._write_one_by_one(iterator, task)
        if task.query is not None and task.is_in_a_stream:
            sink = Sink(task.query, options.sink_id)
            return self._write_decided(BatchWrite(sink, task.batch, task.run, self.job.query), iterator, task)
        if options.sink_id:
            log.warning(Line(
                "Option {setting} has no effect outside foreachBatch, or through Spark Connect",
                setting="sink.id", value=options.sink_id,
            ))  # fmt: skip
        with self._client() as client:
            return RowWriter(client, options, self.columns).write_together(self.job, iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit the transactions of all tasks, which are done, by decision in foreachBatch with sink.id."""
        reports = reports_in(messages)
        write = batch_write_of(reports)
        if write is not None:
            self._decide(write, reports)
        elif any(each.participant for each in reports):
            self._perform(commit_job(self.job, prepared_batch(reports).participants))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Abort the transactions of the job: a task failed for good, or the commit did."""
        reports = reports_in(messages)
        write = batch_write_of(reports)
        if write is not None:
            self._try(undo(write, prepared_batch(reports)))
        elif self.options.exactly_once:
            self._try(abort_job(self.job))
