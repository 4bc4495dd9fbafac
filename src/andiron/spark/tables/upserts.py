"""Rows that replace those with the same key, in a Delta table: for aggregates that change.

    batch 7        12:00  DE  41      12:01  DE   3
                     │ same key         │ new key
    table          12:00  DE  41      12:01  DE   3      12:00  FR  9

The batch is collected on the driver and merged by delta-rs, so this is for results, and not for records: a
micro-batch has one row for each key that changed. The merge rewrites the files that hold those keys; what it replaces
is removed an hour later, and entries of the log after a week (Delta's own settings, which `ALTER TABLE` or
delta-rs can change).

Nulls are keys like any other. Two rows with one key in a batch would leave it open which of them counts, and are
refused.

Read next: delta_log.py, table_writer.py.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
from deltalake.exceptions import DeltaError
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from andiron.model.line import Line
from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.delta_log import DeltaLog, properties
from andiron.spark.tables.table_commit import TableCommit
from andiron.spark.tables.table_writer import check_columns

SETTINGS = {
    "delta.logRetentionDuration": "interval 7 days",
    "delta.deletedFileRetentionDuration": "interval 1 hours",
}
VACUUM_EVERY = 100  # batches

log = logging.getLogger(__name__)


class Upserts:
    """A Delta table that is written by key."""

    def __init__(self, delta: DeltaLog, columns: Sequence[str], keys: Sequence[str]) -> None:
        self.log, self.keys = delta, tuple(keys)
        missing = [key for key in self.keys if key not in columns]
        if not self.keys or missing:
            raise ValueError(
                f"there is no column {missing[0]!r} for a key" if missing else "which columns are the key?"
            )

    def __str__(self) -> str:
        return f"the table {self.log.location}"

    def last(self, batch: int) -> TableCommit | None:
        """The newest commit of ours."""
        return self.log.last()

    def clean(self, last: TableCommit | None) -> None:
        """A merge that was killed leaves files that the log does not name; Delta's vacuum removes them."""

    def stage(self, rows: DataFrame, draft: TableCommit) -> StagedMerge:
        """Collect the rows."""
        opened = self.log.open()
        check_columns(self.log.last(), draft, self, may_grow=False)
        collected = rows.toArrow()
        self._check_keys(collected)
        return StagedMerge(self, opened, rows.schema, collected)

    def _check_keys(self, rows: pa.Table) -> None:
        counted = rows.select(self.keys).group_by(list(self.keys)).aggregate([([], "count_all")])
        twice = counted.filter(pc.greater(counted["count_all"], 1))
        if twice.num_rows:
            key = {name: twice[name][0].as_py() for name in self.keys}
            raise TableError(
                f"{self}: {key} is the key of {twice['count_all'][0]} rows of one batch; upserts are for a query in "
                "update mode whose groups are the keys"
            )


@dataclass
class StagedMerge:
    """Rows on the driver."""

    into: Upserts
    opened: Any
    schema: StructType
    collected: pa.Table

    @property
    def rows(self) -> int:
        return int(self.collected.num_rows)

    def commit(self, commit: TableCommit) -> None:
        """Merge the rows into the Delta table by key."""
        delta = self.into.log
        if self.opened is None and self.rows:
            with delta.refusing_second_commit(commit):
                deltalake.write_deltalake(
                    delta.location,
                    self.collected,
                    mode="error",
                    configuration=SETTINGS,
                    storage_options=delta.storage_options,
                    commit_properties=properties(commit),
                )
        elif self.opened is None:
            delta.create(self.schema, [], commit, SETTINGS)
        elif self.rows:
            self._merge(commit)
        else:
            delta.append(self.opened, self.schema, [], commit)
        if commit.batch % VACUUM_EVERY == VACUUM_EVERY - 1:
            self._vacuum()

    def discard(self) -> None:
        """Nothing to remove: no file was written."""

    def _merge(self, commit: TableCommit) -> None:
        same = " AND ".join(f"(old.`{key}` IS NOT DISTINCT FROM new.`{key}`)" for key in self.into.keys)
        with self.into.log.refusing_second_commit(commit):
            merger = self.opened.merge(
                self.collected,
                same,
                source_alias="new",
                target_alias="old",
                commit_properties=properties(commit),
            )
            merger.when_matched_update_all().when_not_matched_insert_all().execute()

    def _vacuum(self) -> None:
        """Remove what was replaced long ago. It is no part of the batch: what fails now is done another time."""
        try:
            self.into.log.open().vacuum(dry_run=False)
        except DeltaError as error:
            log.warning(Line("Table {table} cannot be cleaned now", table=self.into, error=error))
