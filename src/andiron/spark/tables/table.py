"""The common part of ParquetTable and DeltaTable: `append` and `appending` write a query's rows into a table.

    orders = typed_json(records, SCHEMA, dead_letters="orders.dead")
    query = (
        ParquetTable("tables/orders")
        .append(orders, checkpoint="checkpoints/orders", bootstrap="localhost:9092")
        .trigger(processingTime="1 second")
        .start()
    )

`append` gives Spark's own DataStreamWriter, with the checkpoint set and foreachBatch in place. Jobs with a
foreachBatch of their own call `appending(…)` for a function of (rows, batch id), which may stand beside other
writes there; such a job keeps its rows (`persist`) if it reads them more than once.

Read next: table_writer.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NotRequired, Required, TypedDict, Unpack

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.frames.typed import Typed
from andiron.spark.tables.checkpoint import Checkpoint, TableError
from andiron.spark.tables.table_commit import HOLDS, Holds, TableCommit, TablePromise
from andiron.spark.tables.table_writer import StagedBatch, TableWriter

ORIGIN = ("topic", "partition", "offset")
BOOTSTRAP = "kafka.bootstrap.servers"


class AppendOptions(TypedDict):
    """What `append` and `appending` take beside the rows."""

    checkpoint: Required[str]  # of the query; the table reads its ranges there
    # What is promised, and checked by `andiron table verify`: "every" if nothing is said
    holds: NotRequired[Holds]
    count: NotRequired[str]  # the column in which every record counts once, for aggregates
    bootstrap: NotRequired[str]  # for typed records: the cluster that has the dead-letter topic
    sink_options: NotRequired[Mapping[str, str]]  # what else the sink needs for them
    # For other rows: the topic to which another query sends what is not among them
    dead_letters: NotRequired[str]
    reader: NotRequired[str]  # and its reader
    reader_group: NotRequired[str]  # and the group that shows how far that one is


class UpsertOptions(TypedDict):
    """What `upsert` and `upserting` take beside the rows and their keys."""

    checkpoint: Required[str]
    count: NotRequired[str]
    dead_letters: NotRequired[str]
    reader: NotRequired[str]
    reader_group: NotRequired[str]


class Table(ABC):
    """A table at a path."""

    kind: ClassVar[str]

    def __init__(self, path: str) -> None:
        self.location = path

    def __str__(self) -> str:
        return f"the table {self.location}"

    # ── writing ──────────────────────────────────────────────────────────────────────

    def append(self, data: DataFrame | Typed, **what: Unpack[AppendOptions]) -> DataStreamWriter:
        """A query that appends its rows, ready for `.trigger(…).start()`.

        Of what `typed_json` gives, the records that fit become rows, and the others are written to their dead-letter
        topic, each batch of both once. Of a DataFrame all rows are appended.
        """
        rows = data.parsed if isinstance(data, Typed) else data
        return stream(rows, self.appending(data, **what), "append")

    def appending(self, data: DataFrame | Typed, **what: Unpack[AppendOptions]) -> TableWriter:
        """What `append` puts into foreachBatch; it takes micro-batches of `data`, or of `data.parsed`."""
        letters, bootstrap, count = letters_of(what), what.get("bootstrap"), what.get("count")
        typed = data if isinstance(data, Typed) else None
        rows = data.rows if isinstance(data, Typed) else data
        if typed is not None and letters is not None:
            raise ValueError(
                "typed records have their dead-letter topic already; give it to typed_json alone"
            )
        if typed is not None and bootstrap is None:
            raise ValueError("typed records may be dead letters; give the cluster they go to as bootstrap=")
        holds = holding(rows, what.get("holds"), count)
        promise = TablePromise(holds, count, typed.dead_letters if typed else letters)
        self.check_place()
        options = {**({BOOTSTRAP: bootstrap} if bootstrap else {}), **what.get("sink_options", {})}
        return TableWriter(self, Checkpoint(what["checkpoint"]), promise, "append", typed, options)

    @abstractmethod
    def check_place(self) -> None:
        """Raise if a table cannot be kept here."""

    @abstractmethod
    def last(self, batch: int) -> TableCommit | None:
        """The newest commit, where `batch` is expected to be it or to follow it."""

    @abstractmethod
    def clean(self, last: TableCommit | None) -> None:
        """Remove what killed runs have left."""

    @abstractmethod
    def stage(self, rows: DataFrame, draft: TableCommit) -> StagedBatch:
        """Write the rows, so that they are not yet part of the table."""

    # ── reading ──────────────────────────────────────────────────────────────────────

    @abstractmethod
    def as_of_now(self) -> Table:
        """The table as it is at this moment, without later commits of a query that writes it."""

    @abstractmethod
    def commits(self) -> Iterator[TableCommit]:
        """All batches that are known, oldest first."""

    @abstractmethod
    def dataset(self, batches: Sequence[int] | None = None) -> Any:
        """A pyarrow dataset that has the rows of some batches, or of all; it may have more. None if there are none."""

    def scan(
        self, columns: Sequence[str], batches: Sequence[int] | None = None, filter_: Any = None
    ) -> Iterator[Any]:
        """Rows as Arrow record batches, one after the other."""
        dataset = self.dataset(batches)
        if dataset is not None:
            yield from dataset.to_batches(columns=list(columns), filter=filter_)

    def count_rows(self) -> int:
        """How many rows there are."""
        dataset = self.dataset()
        return 0 if dataset is None else int(dataset.count_rows())


def letters_of(what: AppendOptions | UpsertOptions) -> DeadLetters | None:
    """Where another query sends what is not among the rows, as far as that was told."""
    topic = what.get("dead_letters")
    return DeadLetters(topic, what.get("reader", ""), what.get("reader_group", "")) if topic else None


def stream(rows: DataFrame, writer: TableWriter, output_mode: str) -> DataStreamWriter:
    """A query whose batches go to a writer."""
    started = rows.writeStream.outputMode(output_mode).option("checkpointLocation", writer.checkpoint.uri)
    return started.foreachBatch(writer)


def holding(rows: DataFrame, holds: Holds | None, count: str | None) -> Holds:
    """The table's promise on its rows; raises where their columns cannot keep it."""
    if holds is not None and holds not in HOLDS:
        raise ValueError(f"holds={holds!r} is none of {', '.join(HOLDS)}")
    chosen: Holds = holds or ("count" if count else "every")
    if (chosen == "count") != (count is not None):
        raise ValueError("a table that holds a count names the column: holds='count', count='records'")
    missing = [name for name in ORIGIN if name not in rows.columns]
    if chosen in ("every", "some") and missing:
        raise TableError(
            f"a table is checked against its log by the columns {', '.join(ORIGIN)}, and {missing[0]!r} is not there: "
            "keep it, or name a count= column that adds up to the number of records, or say holds='other'"
        )
    if count is not None and count not in rows.columns:
        raise TableError(f"there is no column {count!r} to count the records")
    return chosen
