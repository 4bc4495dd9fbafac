"""What is told about rows that go into a table, and what is not accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.frames.typed import Typed
from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.parquet import ParquetTable
from unit.spark.tables.worlds import SCHEMA, Rows, checkpoint


@pytest.fixture
def table(tmp_path: Path) -> ParquetTable:
    return ParquetTable(str(tmp_path / "table"))


@pytest.fixture
def at(tmp_path: Path) -> str:
    return checkpoint(tmp_path / "checkpoint")


class Records(Typed):
    """Typed records whose rows need no Spark."""

    @property
    def rows(self) -> Any:
        return Rows([])


TYPED = Records(Rows([]).as_rows(), SCHEMA, DeadLetters("dead", "me"))


def test_a_table_promises_every_record_unless_told_otherwise(table: ParquetTable, at: str) -> None:
    rows = Rows([]).as_rows()

    assert table.appending(rows, checkpoint=at).promise.holds == "every"
    assert table.appending(rows, checkpoint=at, holds="some").promise.holds == "some"
    counted = table.appending(rows, checkpoint=at, count="offset", dead_letters="dead").promise
    assert (counted.holds, counted.count, counted.dead_letters) == ("count", "offset", DeadLetters("dead"))


def test_typed_records_know_their_dead_letters(table: ParquetTable, at: str) -> None:
    writer = table.appending(TYPED, checkpoint=at, bootstrap="b:1", sink_options={"kafka.acks": "all"})

    assert writer.promise.dead_letters == DeadLetters("dead", "me")
    assert writer.sink_options == {"kafka.bootstrap.servers": "b:1", "kafka.acks": "all"}


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({}, "bootstrap="),
        ({"bootstrap": "b:1", "dead_letters": "other"}, "have their dead-letter topic already"),
    ],
)
def test_typed_records_are_told_where_dead_letters_go(
    table: ParquetTable, at: str, what: Any, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        table.appending(TYPED, checkpoint=at, **what)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({"holds": "all"}, "none of every, some, count, other"),
        ({"holds": "count"}, "names the column"),
        ({"holds": "every", "count": "offset"}, "names the column"),
        ({"count": "nothing"}, "no column 'nothing'"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(table: ParquetTable, at: str, what: Any, says: str) -> None:
    with pytest.raises((ValueError, TableError), match=says):
        table.appending(Rows([]).as_rows(), checkpoint=at, **what)


def test_rows_without_an_origin_promise_something_else(table: ParquetTable, at: str) -> None:
    rows: Any = Rows([])
    rows.columns = ["id", "topic", "partition"]

    with pytest.raises(TableError, match="'offset' is not there"):
        table.appending(rows, checkpoint=at)
    assert table.appending(rows, checkpoint=at, holds="other").promise.holds == "other"
