"""Tables of Parquet files: a directory for each batch, which any reader of Parquet can read.

    <table>/batch=0/_commit.json
            batch=0/part-00000-….parquet
            batch=1/…
            _staging/batch=2-9f3c…/        written by the executors, not yet there

The rename of the staged directory is the commit: a batch is there whole, with its ranges, or not at all, and a second
rename to the same name fails. Readers pass over names that begin with "_", and see `batch` as a column. File systems
that cannot rename a directory at once, as object stores, are refused: Delta is for those.

Read next: table_writer.py, then delta.py.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.files import ATOMIC_RENAME, FileEntry, Files
from andiron.spark.tables.table import Table
from andiron.spark.tables.table_commit import TableCommit, read_commit
from andiron.spark.tables.table_writer import AlreadyCommitted, check_columns

COMMIT = "_commit.json"
STAGING = "_staging"
_TRASH = "_trash-"
TIMESTAMPS = "spark.sql.parquet.outputTimestampType"
_BATCH = re.compile(r"batch=(\d+)")


class ParquetTable(Table):
    """A table at a path."""

    kind = "Parquet"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.files = Files(path)
        self._held: list[int] | None = None  # the batches of some moment

    # ── writing ──────────────────────────────────────────────────────────────────────

    def check_place(self) -> None:
        """Raise if a table cannot be kept here."""
        if not self.files.renames_at_once:
            raise TableError(
                f"{self}: a Parquet table is kept where directories are renamed at once "
                f"({', '.join(ATOMIC_RENAME)}); on {self.files.scheme} use a DeltaTable"
            )

    def last(self, batch: int) -> TableCommit | None:
        """The newest commit; found without a listing where it is the one expected."""
        for number in (batch + 1, batch, batch - 1):
            found = self._commit(number) if number >= 0 else None
            if found is not None:
                return found
        numbers = self._numbers()
        return self._commit(numbers[-1]) if numbers else None

    def clean(self, last: TableCommit | None) -> None:
        """Remove what other runs have staged. One may still be alive: it must not find half of it to be renamed."""
        if self.files.exists(STAGING):
            self.files.move(STAGING, f"{_TRASH}{secrets.token_hex(8)}")
        for each in list(self.files.list()):
            if each.name.startswith(_TRASH):
                self.files.delete(each.name)

    def stage(self, rows: DataFrame, draft: TableCommit) -> StagedDirectory:
        """Have the executors write the rows."""
        check_columns(self.last(draft.batch), draft, self, may_grow=True)
        staged = StagedDirectory(self, f"{STAGING}/batch={draft.batch}-{draft.attempt}")
        try:
            write_parts(rows, self.files, staged.directory)
            staged.parts = parts(self.files, staged.directory)
        except BaseException:
            staged.discard()
            raise
        return staged

    # ── reading ──────────────────────────────────────────────────────────────────────

    def as_of_now(self) -> ParquetTable:
        """The batches that are there now: one that was committed does not change."""
        held = ParquetTable(self.location)
        held._held = self._numbers()
        return held

    def commits(self) -> Iterator[TableCommit]:
        """All batches, oldest first."""
        for number in self._numbers():
            found = self._commit(number)
            if found is None:
                raise TableError(f"{self}/batch={number} has no {COMMIT}: it was not made by Andiron")
            yield found

    def dataset(self, batches: Sequence[int] | None = None) -> Any:
        """The rows of some batches, or of all."""
        import pyarrow.dataset as ds  # it brings pandas: half a second of a pipeline's start

        numbers = self._numbers() if batches is None else batches
        names = [
            each.name for number in numbers for each in self.files.list(f"batch={number}") if _is_part(each)
        ]
        if not names:
            return None
        return ds.dataset(
            [self.files.path(name) for name in names], filesystem=self.files.filesystem, format="parquet"
        )

    def _numbers(self) -> list[int]:
        if self._held is not None:
            return self._held
        found = (_BATCH.fullmatch(each.name) for each in self.files.list() if each.is_directory)
        return sorted(int(match[1]) for match in found if match)

    def _commit(self, number: int) -> TableCommit | None:
        name = f"batch={number}/{COMMIT}"
        text = self.files.read(name)
        return None if text is None else read_commit(text, self.files.path(name))


@dataclass(frozen=True)
class Part:
    """A file of rows."""

    name: str
    size: int
    rows: int
    offsets: tuple[int, int] | None = None  # the least and the greatest, where there is such a column


@dataclass
class StagedDirectory:
    """A directory that is to become a batch."""

    table: ParquetTable
    directory: str
    parts: list[Part] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.parts)

    def commit(self, commit: TableCommit) -> None:
        """Commit: rename the staged directory to that of its batch."""
        files, target = self.table.files, f"batch={commit.batch}"
        note = f"{self.directory}/{COMMIT}"
        files.write(note, json.dumps(commit.as_json()))
        files.sync([note, *(each.name for each in self.parts)])
        try:
            files.move(self.directory, target)
        except OSError as error:
            there = self.table._commit(commit.batch)
            if there is not None and (there.query, there.ranges) == (commit.query, commit.ranges):
                raise AlreadyCommitted(f"{self.table}: batch {commit.batch} is there") from error
            raise

    def discard(self) -> None:
        """Remove the staged directory."""
        self.table.files.delete(self.directory)


def write_parts(rows: DataFrame, files: Files, directory: str) -> None:
    """Have the executors write rows as Parquet, with times that other readers need not guess."""
    rows.sparkSession.conf.set(TIMESTAMPS, "TIMESTAMP_MICROS")
    writer = rows.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer.mode("error").parquet(f"{files.uri}/{directory}")


def parts(files: Files, directory: str) -> list[Part]:
    """The files that were written; those without rows, and what is no Parquet, are removed.

    Where there are no rows at all one file stays, for the columns.
    """
    found = []
    for each in list(files.list(directory)):
        if _is_part(each):
            with files.filesystem.open_input_file(files.path(each.name)) as file:
                told = pq.read_metadata(file)
            found.append(Part(each.name, each.size, told.num_rows, _span(told)))
        else:
            files.delete(each.name)
    kept = [each for each in found if each.rows] or found[:1]
    for part in found:
        if part not in kept:
            files.delete(part.name)
    return kept


def _span(told: Any) -> tuple[int, int] | None:
    """The least and the greatest offset of a file, by its footer."""
    spans = []
    for group in range(told.num_row_groups):
        row_group = told.row_group(group)
        for at in range(row_group.num_columns):
            column = row_group.column(at)
            if column.path_in_schema == "offset" and column.physical_type == "INT64":
                known = column.statistics
                if known is None or not known.has_min_max or known.null_count:
                    return None
                spans.append((known.min, known.max))
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def _is_part(each: FileEntry) -> bool:
    base = each.name.rpartition("/")[2]
    return not each.is_directory and base.endswith(".parquet") and not base.startswith(("_", "."))
