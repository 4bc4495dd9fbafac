"""A task's report to the driver, and which task it is.

A message is all that the driver gets of a task, and its writer is another object in another process. So a message says
for itself which write it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from andiron.spark.sink.commit_protocol import BatchWrite, PreparedBatch
from andiron.spark.sink.decision import Participant, SinkError
from andiron.spark.sink.ledger_request import GroupOffsets

NO_BATCH = -1
QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
# Spark makes a run's id the group of its jobs. A function in foreachBatch may set another: the application is added.
RUN = ("spark.app.id", "spark.jobGroup.id")


class Task(NamedTuple):
    """The task of Spark's that this process runs: its partition, query, batch and run."""

    partition: int
    query: str | None = None
    batch: int = NO_BATCH
    run: str = ""

    @property
    def is_in_a_stream(self) -> bool:
        return self.query is not None and self.batch != NO_BATCH

    @classmethod
    def current(cls) -> Task:
        """The task that runs in this process, by the properties of its job."""
        context = TaskContext.get()
        if context is None:
            raise SinkError("rows are written by Spark's tasks only")
        batch = context.getLocalProperty(BATCH)
        run = [context.getLocalProperty(name) or "" for name in RUN]
        query = context.getLocalProperty(QUERY)
        return cls(context.partitionId(), query, int(batch) if batch else NO_BATCH, "/".join(run))


@dataclass
class TaskReport(WriterCommitMessage):
    """A task's message to the driver: what it has written, for which batch, under which transaction."""

    rows: Mapping[str, int] = field(default_factory=dict)  # by topic
    write: BatchWrite | None = None  # the batch that it is part of, where there is one
    term: str | None = None  # in which it was written; None if the batch was decided already
    participant: Participant | None = None  # None if there was nothing to write


def reports_in(messages: Sequence[WriterCommitMessage | None]) -> list[TaskReport]:
    """The reports of those tasks that came so far as to send one."""
    return [each for each in messages if isinstance(each, TaskReport)]


def batch_write_of(told: Sequence[TaskReport]) -> BatchWrite | None:
    """The batch that the reports belong to; None where they belong to none."""
    writes = {each.write for each in told}
    if len(writes) > 1:
        raise SinkError(f"tasks of one write belong to different batches: {writes}")
    return writes.pop() if writes else None


def prepared_batch(
    told: Sequence[TaskReport], groups: Mapping[str, GroupOffsets] | None = None
) -> PreparedBatch:
    """What all tasks of a write have prepared, put together from their reports."""
    rows: dict[str, int] = {}
    for each in told:
        for topic, count in each.rows.items():
            rows[topic] = rows.get(topic, 0) + count
    return PreparedBatch(
        participants=[each.participant for each in told if each.participant is not None],
        terms={each.term for each in told if each.term is not None},
        skipped=any(each.term is None for each in told),
        rows=rows,
        groups=groups or {},
    )
