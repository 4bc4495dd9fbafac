"""Delta tables through delta-rs, without a jar: appended to by the executors, or upserted by key.

    <table>/_delta_log/00….json             the log of commits, each with our note
            batch-7-9f3c…/part-….parquet    what the executors wrote for batch 7; it counts if the log names it
            part-….parquet                  what an upsert wrote

A commit of Delta's log is the commit of the batch. An append is written by the executors, so that its size is not
bounded by the driver.

Read next: delta_log.py, upserts.py, table_writer.py.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from deltalake.transaction import AddAction
from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType

from andiron.spark.tables.checkpoint import Checkpoint
from andiron.spark.tables.delta_log import DeltaLog
from andiron.spark.tables.files import Files
from andiron.spark.tables.parquet import Part, parts, write_parts
from andiron.spark.tables.table import Table, UpsertOptions, holding, letters_of, stream
from andiron.spark.tables.table_commit import TableCommit, TablePromise
from andiron.spark.tables.table_writer import TableWriter, check_columns
from andiron.spark.tables.upserts import Upserts

_DIRECTORY = re.compile(r"batch-(\d+)-([0-9a-f]+)")
_MS_PER_S = 1000


class DeltaTable(Table):
    """A table at a path or URI; `storage_options` as delta-rs takes them."""

    kind = "Delta"

    def __init__(self, path: str, *, storage_options: Mapping[str, str] | None = None) -> None:
        super().__init__(path)
        self.files = Files(path)
        self.log = DeltaLog(str(self.files), storage_options)

    # ── writing ──────────────────────────────────────────────────────────────────────

    def upsert(self, rows: DataFrame, keys: Sequence[str], **what: Unpack[UpsertOptions]) -> DataStreamWriter:
        """A query in update mode whose rows replace those with the same `keys`."""
        return stream(rows, self.upserting(rows, keys, **what), "update")

    def upserting(self, rows: DataFrame, keys: Sequence[str], **what: Unpack[UpsertOptions]) -> TableWriter:
        """What `upsert` puts into foreachBatch; it takes micro-batches of `rows`."""
        count = what.get("count")
        promise = TablePromise(holding(rows, "count" if count else "other", count), count, letters_of(what))
        store = Upserts(self.log, rows.columns, keys)
        return TableWriter(store, Checkpoint(what["checkpoint"]), promise, "upsert")

    def check_place(self) -> None:
        """Delta can be kept anywhere that delta-rs knows."""

    def last(self, batch: int) -> TableCommit | None:
        """The newest commit of ours."""
        return self.log.last()

    def clean(self, last: TableCommit | None) -> None:
        """Remove what was written for batches that were never committed, if whoever wrote it can no longer do so."""
        named = [match for each in self.files.list() if (match := _DIRECTORY.fullmatch(each.name))]
        leftovers = [match[0] for match in named if last and _is_leftover(int(match[1]), match[2], last)]
        if last is not None and leftovers:
            self.log.fence(last)
            for name in leftovers:
                self.files.delete(name)

    def stage(self, rows: DataFrame, draft: TableCommit) -> StagedAppend:
        """Have the executors write the rows."""
        opened = self.log.open()
        check_columns(self.log.last(), draft, self, may_grow=False)
        staged = StagedAppend(self, opened, rows.schema, f"batch-{draft.batch}-{draft.attempt}")
        try:
            write_parts(rows, self.files, staged.directory)
            staged.parts = parts(self.files, staged.directory)
            self.files.sync(each.name for each in staged.parts)
        except BaseException:
            staged.discard()
            raise
        return staged

    # ── reading ──────────────────────────────────────────────────────────────────────

    def as_of_now(self) -> DeltaTable:
        """The table at the newest version of its log."""
        held = DeltaTable(self.location)
        held.log = self.log.as_of_now()
        return held

    def commits(self) -> Iterator[TableCommit]:
        """The batches that the log still has, oldest first."""
        return self.log.commits()

    def dataset(self, batches: Sequence[int] | None = None) -> Any:
        """All rows: once files are compacted nobody knows which batch a row is from."""
        return self.log.open().to_pyarrow_dataset()


@dataclass
class StagedAppend:
    """Files in a directory of their own, which the log does not name yet."""

    table: DeltaTable
    opened: Any  # before the files were written, so that Delta sees what was committed since
    schema: StructType
    directory: str
    parts: list[Part] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.parts)

    def commit(self, commit: TableCommit) -> None:
        """Commit the files to Delta's log."""
        actions = [_add(each) for each in self.parts if each.rows]
        if self.opened is None:
            self.table.log.create(self.schema, actions, commit)
        else:
            self.table.log.append(self.opened, self.schema, actions, commit)
        if not actions:
            self.discard()  # a file without rows is not named

    def discard(self) -> None:
        """Remove the staged files."""
        self.table.files.delete(self.directory)


def _is_leftover(batch: int, attempt: str, last: TableCommit) -> bool:
    return batch > last.batch or (batch == last.batch and attempt != last.attempt)


def _add(part: Part) -> Any:
    return AddAction(
        path=part.name,
        size=part.size,
        partition_values={},
        modification_time=int(time.time() * _MS_PER_S),
        data_change=True,
        stats=json.dumps(_statistics(part)),
    )


def _statistics(part: Part) -> dict[str, Any]:
    """What lets readers pass over a file: a check of the table against its log looks for offsets."""
    told: dict[str, Any] = {"numRecords": part.rows}
    if part.offsets is not None:
        least, greatest = ({"offset": each} for each in part.offsets)
        told |= {"minValues": least, "maxValues": greatest, "nullCount": {"offset": 0}}
    return told
