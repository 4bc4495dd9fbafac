"""What goes between Spark and the sink: which task this is, and what it tells the driver.

A message is all that the driver gets of a task, and its writer is another object in another process. So a message says
for itself which write it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from andiron.spark.sink.asks import GroupOffsets
from andiron.spark.sink.commits import Prepared, Write
from andiron.spark.sink.decisions import Participant, SinkError

NO_BATCH = -1
QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"
# Spark makes a run's id the group of its jobs. A function in foreachBatch may set another: the application is added.
RUN = ("spark.app.id", "spark.jobGroup.id")


class Task(NamedTuple):
    """Which task this is, as Spark tells."""

    partition: int
    query: str | None = None
    batch: int = NO_BATCH
    run: str = ""

    @property
    def is_in_a_stream(self) -> bool:
        return self.query is not None and self.batch != NO_BATCH

    @classmethod
    def current(cls) -> Task:
        """The one that runs in this process."""
        context = TaskContext.get()
        if context is None:
            raise SinkError("rows are written by Spark's tasks only")
        batch = context.getLocalProperty(BATCH)
        run = [context.getLocalProperty(name) or "" for name in RUN]
        query = context.getLocalProperty(QUERY)
        return cls(context.partitionId(), query, int(batch) if batch else NO_BATCH, "/".join(run))


@dataclass
class Told(WriterCommitMessage):
    """What one task did."""

    rows: Mapping[str, int] = field(default_factory=dict)  # by topic
    write: Write | None = None  # the batch that it is part of, where there is one
    term: str | None = None  # in which it was written; None if the batch was decided already
    participant: Participant | None = None  # None if there was nothing to write


def told_by(messages: Sequence[WriterCommitMessage | None]) -> list[Told]:
    """What tasks told, those that got so far."""
    return [each for each in messages if isinstance(each, Told)]


def write_of(told: Sequence[Told]) -> Write | None:
    """The batch that these belong to; None where they belong to none."""
    writes = {each.write for each in told}
    if len(writes) > 1:
        raise SinkError(f"tasks of one write belong to different batches: {writes}")
    return writes.pop() if writes else None


def prepared_by(told: Sequence[Told], groups: Mapping[str, GroupOffsets] | None = None) -> Prepared:
    """What they have written, all together."""
    rows: dict[str, int] = {}
    for each in told:
        for topic, count in each.rows.items():
            rows[topic] = rows.get(topic, 0) + count
    return Prepared(
        participants=[each.participant for each in told if each.participant is not None],
        terms={each.term for each in told if each.term is not None},
        skipped=any(each.term is None for each in told),
        rows=rows,
        groups=groups or {},
    )
