"""The commit that a table notes with every batch it takes in, and which batch may come next.

    batch   orders-0     orders-1     rows
      0     [40, 90)     [17, 60)       93
      1     [90, 90)     [60, 75)       15     each range begins where the one before it ends
      2     [90, 120)    [75, 75)       30

The law: a table is one chain of ranges, made by one query. A batch that is there already, and is the same, is done;
one that does not join on is refused, since whatever the reason is, records would be missing or double. A query that
is started with a new checkpoint is another one: it counts its batches from 0 again and may have begun elsewhere.

`since` repeats in every commit where the table begins, so that a table whose oldest commits are gone can still
say what it is missing.

Read next: table_writer.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from andiron.model.ids import TopicPartition
from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.source.offsets import to_json
from andiron.spark.source.plan import Range
from andiron.spark.tables.checkpoint import TableError

VERSION = 1
Mode = Literal["append", "upsert"]
Holds = Literal["every", "some", "count", "other"]
HOLDS: tuple[Holds, ...] = ("every", "some", "count", "other")


@dataclass(frozen=True, slots=True)
class TablePromise:
    """The promise of a table on the records of its ranges, which `andiron table verify` checks.

    every   each record is a row, or a dead letter; its columns topic, partition and offset say which
    some    a selection: no record is there twice, and none from elsewhere
    count   the column `count` adds up to the number of records
    other   nothing that could be checked
    """

    holds: Holds = "every"
    count: str | None = None
    dead_letters: DeadLetters | None = None


@dataclass(frozen=True, slots=True)
class TableCommit:
    """One batch of a table: its query, its ranges of offsets, and what was promised of its rows."""

    query: str
    batch: int
    ranges: tuple[Range, ...]
    since: Mapping[TopicPartition, int]
    rows: int = 0
    mode: Mode = "append"
    promise: TablePromise = field(default_factory=TablePromise)
    columns: Mapping[str, str] = field(default_factory=dict)
    attempt: str = ""
    late: int = 0  # groups that the watermark has dropped

    @property
    def ends(self) -> dict[TopicPartition, int]:
        """Up to where the table holds each partition."""
        return {each.partition: each.end for each in self.ranges}

    @property
    def offsets(self) -> int:
        """How many offsets the batch is made of."""
        return sum(each.size for each in self.ranges)

    def as_json(self) -> dict[str, Any]:
        """The commit as its table keeps it."""
        ranges: dict[str, dict[str, list[int]]] = {}
        for (topic, partition), start, end in self.ranges:
            ranges.setdefault(topic, {})[str(partition)] = [start, end]
        dead = self.promise.dead_letters
        return {
            "version": VERSION,
            "query": self.query,
            "batch": self.batch,
            "mode": self.mode,
            "ranges": ranges,
            "since": to_json(self.since),
            "rows": self.rows,
            "late": self.late,
            "holds": self.promise.holds,
            "count": self.promise.count,
            "dead_letters": None if dead is None else dead._asdict(),
            "columns": dict(self.columns),
            "attempt": self.attempt,
        }

    @classmethod
    def of_json(cls, told: Any, where: str) -> TableCommit:
        """A commit that was read at `where`."""
        try:
            if told["version"] != VERSION:
                raise TableError(f"{where} is of version {told['version']}, and this Andiron knows {VERSION}")
            ranges = [
                Range(TopicPartition(topic, int(number)), int(start), int(end))
                for topic, numbers in told["ranges"].items()
                for number, (start, end) in numbers.items()
            ]
            since = {
                TopicPartition(topic, int(number)): int(offset)
                for topic, numbers in told["since"].items()
                for number, offset in numbers.items()
            }
            dead = told["dead_letters"]
            letters = (
                None if dead is None else DeadLetters(dead["topic"], dead["reader"], dead.get("group", ""))
            )
            return cls(
                query=str(told["query"]),
                batch=int(told["batch"]),
                ranges=tuple(sorted(ranges)),
                since=since,
                rows=int(told["rows"]),
                mode=told["mode"],
                promise=TablePromise(told["holds"], told["count"], letters),
                columns=told["columns"],
                attempt=told["attempt"],
                late=int(told["late"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise TableError(f"{where} is not a commit of a table: {error!r}") from error


def read_commit(text: str, where: str) -> TableCommit:
    """Parse a commit that was read at `where`."""
    try:
        return TableCommit.of_json(json.loads(text), where)
    except ValueError as error:
        raise TableError(f"{where} is not JSON: {error}") from error


def next_commit(
    last: TableCommit | None, query: str, batch: int, ranges: Iterable[Range], table: object
) -> TableCommit | None:
    """The commit that a batch makes; None if the table has the batch already. Raises where neither is right."""
    found = {each.partition: each for each in ranges}
    if last is None:
        if batch:
            raise TableError(
                f"{table} is empty, and the checkpoint goes on with batch {batch}: what it has done before is not "
                "here; start the query with a new checkpointLocation"
            )
        return TableCommit(
            query, batch, tuple(found.values()), {each.partition: each.start for each in found.values()}
        )
    if last.query != query:
        raise TableError(
            f"{table} is written by the query {last.query}, and this is {query}: a new checkpoint makes a new query, "
            "which would write records again or leave some out. Give the query its old checkpointLocation back, or "
            "another table"
        )
    if batch < last.batch:
        raise TableError(
            f"{table} has batch {last.batch}, and the checkpoint goes on with {batch}: it is older than the table "
            "(restored, or copied?); start with a new checkpointLocation and a new table"
        )
    for partition, end in last.ends.items():  # one that is gone from the topic stays where it was
        found.setdefault(partition, Range(partition, end, end))
    complete = tuple(found[partition] for partition in sorted(found))
    if batch == last.batch:
        _check_same(last, complete, table)
        return None
    _check_next(last, batch, complete, table)
    since = {each.partition: each.start for each in complete} | dict(last.since)
    return TableCommit(query, batch, complete, since)


def _check_same(last: TableCommit, ranges: tuple[Range, ...], table: object) -> None:
    known = {each.partition: each for each in last.ranges}
    for each in ranges:
        if known.get(each.partition) != each:
            raise TableError(
                f"{table} has batch {last.batch} with other offsets: {_told(known.get(each.partition))}, and the "
                f"checkpoint says {_told(each)}; it was changed by hand, or is of another topic"
            )


def _check_next(last: TableCommit, batch: int, ranges: tuple[Range, ...], table: object) -> None:
    if batch > last.batch + 1:
        raise TableError(
            f"{table} has batch {last.batch}, and the checkpoint goes on with {batch}: what is between went "
            "elsewhere; start with a new checkpointLocation and a new table"
        )
    for each in ranges:
        if each.start != last.ends.get(each.partition, each.start):
            raise TableError(
                f"{table} holds {each.partition} up to offset {last.ends[each.partition]}, and batch {batch} "
                f"begins at {each.start}; the checkpoint was changed by hand, or the topic was made anew"
            )


def _told(each: Range | None) -> str:
    return "nothing" if each is None else f"{each.partition} [{each.start}, {each.end})"
