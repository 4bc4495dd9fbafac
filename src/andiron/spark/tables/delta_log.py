"""Delta's log of commits, as delta-rs keeps it: what is read from it, and what ours add to it.

    {"commitInfo": {…, "andiron": {"query": …, "batch": 7, "ranges": …}}}
    {"add": {"path": "batch-7-9f3c…/part-00000-….parquet", …}}
    {"txn": {"appId": "<query>", "version": 7}}

The law: a table is opened before a batch is written, and committed to as it was opened. Of two runs of one query
that write the same batch, Delta then refuses the later, since both bring the same application transaction. Before
files of another run are removed that run is kept from committing them, in the same way.

Read next: delta.py and upserts.py.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import create_table_with_add_actions
from pyspark.sql.types import StructType

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.table_commit import TableCommit
from andiron.spark.tables.table_writer import AlreadyCommitted

NOTE = "andiron"
_LOOK_BACK = 20  # commits; others may have made some since our last


class DeltaLog:
    """The log of the table at a path or URI."""

    def __init__(self, location: str, storage_options: Mapping[str, str] | None = None) -> None:
        self.location = location
        self.storage_options = dict(storage_options) if storage_options else None
        self._held: Any = None  # the table as it was at some moment

    def as_of_now(self) -> DeltaLog:
        """The log as it is at this moment, without later commits."""
        held = DeltaLog(self.location, self.storage_options)
        held._held = self.open()
        return held

    def open(self) -> Any:
        """delta-rs's table as it is now, unless it is held; None if there is none."""
        if self._held is not None:
            return self._held
        try:
            return deltalake.DeltaTable(self.location, storage_options=self.storage_options)
        except TableNotFoundError:
            return None

    def last(self) -> TableCommit | None:
        """The newest commit of ours; None if there is no table."""
        opened = self.open()
        if opened is None:
            return None
        for look_back in (_LOOK_BACK, None):
            for entry in opened.history(look_back):
                if NOTE in entry:
                    return self._commit(entry)
        raise TableError(f"{self.location} is a Delta table that Andiron has not made; choose another path")

    def commits(self) -> Iterator[TableCommit]:
        """The commits of ours that the log still has, oldest first.

        delta-rs tells of those too that were made since the table was opened. They are known by their application
        transaction, and left out.
        """
        opened = self.open()
        for entry in reversed([] if opened is None else opened.history()):
            if NOTE in entry:
                commit = self._commit(entry)
                newest = opened.transaction_version(commit.query)
                if newest is None or commit.batch <= newest:
                    yield commit

    def create(
        self,
        schema: StructType,
        actions: list[Any],
        commit: TableCommit,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Make the table, with its first batch."""
        with self.refusing_second_commit(commit):
            create_table_with_add_actions(
                self.location,
                delta_schema(schema),
                actions,
                mode="error",
                configuration=dict(settings or {}),
                storage_options=self.storage_options,
                commit_properties=properties(commit),
            )

    def append(self, opened: Any, schema: StructType, actions: list[Any], commit: TableCommit) -> None:
        """Add files to the table that was opened."""
        with self.refusing_second_commit(commit):
            opened.create_write_transaction(
                actions, "append", delta_schema(schema), commit_properties=properties(commit)
            )

    def fence(self, last: TableCommit) -> None:
        """Keep any run that has opened the table before from committing to it: it would find this commit first."""
        opened = self.open()
        again = deltalake.CommitProperties(app_transactions=[deltalake.Transaction(last.query, last.batch)])
        opened.create_write_transaction([], "append", opened.schema(), commit_properties=again)

    @contextlib.contextmanager
    def refusing_second_commit(self, commit: TableCommit) -> Iterator[None]:
        """Raise AlreadyCommitted where a commit fails because another run has made it; other errors as they are."""
        try:
            yield
        except (CommitFailedError, DeltaError) as error:
            there = self.last()
            if there is not None and (there.query, there.batch, there.ranges) == (
                commit.query,
                commit.batch,
                commit.ranges,
            ):
                if there.attempt == commit.attempt:
                    return  # it was made, and only the answer went wrong
                raise AlreadyCommitted(f"{self.location}: batch {commit.batch} is there") from error
            raise TableError(
                f"{self.location}: batch {commit.batch} could not be committed: {error}"
            ) from error

    def _commit(self, entry: Mapping[str, Any]) -> TableCommit:
        return TableCommit.of_json(entry[NOTE], f"{self.location}, version {entry.get('version')}")


def properties(commit: TableCommit) -> Any:
    """What a commit brings beside its files."""
    return deltalake.CommitProperties(
        custom_metadata={NOTE: commit.as_json()},
        app_transactions=[deltalake.Transaction(commit.query, commit.batch)],
    )


def delta_schema(schema: StructType) -> Any:
    """Columns in Delta's words, which are Spark's; none of them is required."""
    told = json.loads(schema.json())
    for each in told["fields"]:
        each["nullable"], each["metadata"] = True, {}
    return deltalake.Schema.from_json(json.dumps(told))
