"""One micro-batch into a table, once: what runs inside foreachBatch.

    checkpoint ─▶ query, ranges ─┐
    table ──────▶ last commit ───┴▶ following()
                                     ├─▶ it is there already: read the rows, write nothing
                                     └─▶ stage ─▶ dead letters ─▶ commit, at once or not at all ─▶ Spark's commit log

    killed   before    ─ after staging ─  before commit   ─ after commit
    again    all anew    all anew           all anew         nothing: the table has it

Spark runs a batch again until its own log has it, with the same offsets; the table's last commit says whether that
is the first time. Whatever a killed run has staged is removed when the next one begins.

A batch that is not written again is still read: operators with state and the watermark want to see their rows.

Read next: parquet.py and delta.py, which stage and commit.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pyspark.errors import PySparkAttributeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from andiron.model.line import Line
from andiron.spark import steps
from andiron.spark.frames.typed import Typed
from andiron.spark.tables.checkpoint import Checkpoint, TableError
from andiron.spark.tables.late_groups import late_groups
from andiron.spark.tables.table_commit import Mode, TableCommit, TablePromise, next_commit

DEAD_LETTERS_SINK = "dead-letters"
_QUERY_PROPERTY = "sql.streaming.queryId"

log = logging.getLogger(__name__)


class StagedBatch(Protocol):
    """The rows of a batch that are written and not yet part of the table."""

    @property
    def rows(self) -> int: ...

    def commit(self, commit: TableCommit) -> None:
        """Make the rows part of the table; raises AlreadyCommitted if another run has committed this batch."""

    def discard(self) -> None:
        """Remove the rows again."""


class TableStore(Protocol):
    """Where a table is kept: what a TableWriter needs of Parquet and Delta."""

    def last(self, batch: int) -> TableCommit | None:
        """The newest commit, where `batch` is expected to be it or to follow it."""

    def clean(self, last: TableCommit | None) -> None:
        """Remove what killed runs have left."""

    def stage(self, rows: DataFrame, draft: TableCommit) -> StagedBatch:
        """Write the rows; reads them once."""


class AlreadyCommitted(TableError):
    """Another run of the query has committed the batch."""


@dataclass
class TableWriter:
    """The function for foreachBatch: takes a micro-batch and its id, and writes it to the table once."""

    store: TableStore
    checkpoint: Checkpoint
    promise: TablePromise
    mode: Mode = "append"
    typed: Typed | None = None
    sink_options: Mapping[str, str] = field(default_factory=dict)
    _is_clean: bool = field(default=False, init=False)

    def __call__(self, batch_rows: DataFrame, batch: int) -> None:
        """Write the batch, unless the table has it."""
        query = self._query_of(batch_rows)
        last = self.store.last(batch)
        draft = next_commit(last, query, batch, self.checkpoint.ranges(batch), self.store)
        if not self._is_clean:
            self.store.clean(last)
            self._is_clean = True
        if draft is None:
            log.info(Line("Table {table} has batch {batch} already", table=self.store, batch=batch))
            _read(batch_rows)
            return
        steps.reached("table_before_write", batch)
        rows = batch_rows if self.typed is None else self.typed.rows_of(batch_rows.persist())
        try:
            self._write(rows, batch_rows, draft)
        finally:
            if self.typed is not None:
                batch_rows.unpersist()

    def _write(self, rows: DataFrame, batch_rows: DataFrame, draft: TableCommit) -> None:
        draft = replace(
            draft,
            mode=self.mode,
            promise=self.promise,
            columns=_columns(rows.schema),
            attempt=secrets.token_hex(8),
        )
        staged = self.store.stage(rows, draft)
        try:
            steps.reached("table_after_write", draft.batch)
            self._check_size(staged.rows, draft)
            if self.typed is not None:
                self._send_dead_letters(self.typed.bad_of(batch_rows))
            steps.reached("table_before_commit", draft.batch)
        except BaseException:
            staged.discard()
            raise
        late = late_groups(rows.sparkSession, draft.query)
        try:
            staged.commit(replace(draft, rows=staged.rows, late=late))
        except AlreadyCommitted:
            staged.discard()
            log.warning(Line(
                "Batch {batch} of table {table} was committed by another run meanwhile",
                batch=draft.batch, table=self.store,
            ))  # fmt: skip
            return  # after any other failure it may be committed all the same: the next run knows, and cleans up
        steps.reached("table_after_commit", draft.batch)

    def _query_of(self, batch_rows: DataFrame) -> str:
        """The query's id by its checkpoint, which must be the one that is running."""
        query = self.checkpoint.query()
        running = _running(batch_rows.sparkSession)
        if running is not None and running != query:
            raise TableError(
                f"{self.checkpoint} is the checkpoint of the query {query}, and this is {running}; give the table the "
                "checkpointLocation of the query that writes it"
            )
        return query

    def _check_size(self, rows: int, draft: TableCommit) -> None:
        if self.promise.holds in ("every", "some") and rows > draft.offsets:
            raise TableError(
                f"{self.store}: batch {draft.batch} has {rows} rows of {draft.offsets} offsets, and each record should "
                "be a row at most; where one record makes several (explode, join), say holds='other'"
            )

    def _send_dead_letters(self, bad: DataFrame) -> None:
        if not bad.isEmpty():
            options = {"sink.id": DEAD_LETTERS_SINK, **self.sink_options}
            bad.write.format("andiron").options(**options).mode("append").save()


def _running(session: SparkSession) -> str | None:
    """The query that a batch is of, as far as Spark tells: it does not through Spark Connect."""
    try:
        return session.sparkContext.getLocalProperty(_QUERY_PROPERTY)
    except PySparkAttributeError:
        return None


def _read(batch_rows: DataFrame) -> None:
    batch_rows.write.format("noop").mode("overwrite").save()


def _columns(schema: StructType) -> dict[str, str]:
    return {each.name: each.dataType.simpleString() for each in schema.fields}


def check_columns(last: TableCommit | None, draft: TableCommit, table: Any, *, may_grow: bool) -> None:
    """Raise if the columns do not go with those that the table has."""
    if last is None:
        return
    for name, kind in draft.columns.items():
        had = last.columns.get(name)
        if had != kind and not (had is None and may_grow):
            was = "is not there" if had is None else f"is {had}"
            raise TableError(f"{table}: column {name!r} {was}, and the rows have {kind}; start a new table")
    gone = [name for name in last.columns if name not in draft.columns]
    if gone and not may_grow:
        raise TableError(f"{table} has a column {gone[0]!r}, and the rows have not; start a new table")
