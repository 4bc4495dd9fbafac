"""Parquet tables: directories that appear whole."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.parquet import COMMIT, ParquetTable
from andiron.spark.tables.table_writer import AlreadyCommitted
from unit.spark.tables.worlds import Rows, draft, without_spark


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ParquetTable:
    without_spark(monkeypatch)
    return ParquetTable(str(tmp_path / "table"))


def add(table: ParquetTable, batch: int, offsets: list[int], start: int, end: int) -> None:
    made = draft(batch, start, end)
    table.stage(Rows(offsets).as_rows(), made).commit(made)


def test_a_committed_batch_is_there_with_its_ranges(table: ParquetTable) -> None:
    add(table, 0, [], 0, 0)
    add(table, 1, [0, 1, 2], 0, 3)

    assert [each.batch for each in table.commits()] == [0, 1]
    assert table.last(1) == table.last(2) == draft(1, 0, 3)
    assert table.count_rows() == 3


def test_other_readers_see_whole_batches_only(table: ParquetTable) -> None:
    add(table, 0, [0, 1], 0, 2)
    table.stage(Rows([2, 3]).as_rows(), draft(1, 2, 4))

    seen = ds.dataset(table.location, format="parquet", partitioning="hive").to_table()
    assert seen.column("offset").to_pylist() == [0, 1]
    assert seen.column("batch").to_pylist() == [0, 0]


def test_files_without_rows_are_left_out_but_for_one_that_has_the_columns(table: ParquetTable) -> None:
    add(table, 0, [], 0, 0)
    add(table, 1, [0], 0, 1)

    assert sorted(os.listdir(f"{table.location}/batch=0")) == [COMMIT, "part-0.snappy.parquet"]
    assert sorted(os.listdir(f"{table.location}/batch=1")) == [COMMIT, "part-1.snappy.parquet"]


def test_rows_are_counted_from_what_was_written(table: ParquetTable) -> None:
    assert table.stage(Rows([0, 1, 2]).as_rows(), draft(0, 0, 3)).rows == 3


def test_what_a_killed_run_has_staged_is_removed(table: ParquetTable) -> None:
    add(table, 0, [0], 0, 1)
    table.stage(Rows([1]).as_rows(), draft(1, 1, 2))

    table.clean(table.last(1))

    assert os.listdir(table.location) == ["batch=0"]


def test_a_run_whose_rows_were_removed_cannot_commit_them(table: ParquetTable) -> None:
    paused = table.stage(Rows([1]).as_rows(), draft(0, 0, 2))

    table.clean(None)

    with pytest.raises(OSError, match="batch=0-a1"):
        paused.commit(draft(0, 0, 2))
    assert os.listdir(table.location) == []


def test_what_could_not_be_written_is_removed(table: ParquetTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[object]:
        raise OSError("no space left")

    monkeypatch.setattr("andiron.spark.tables.parquet.parts", fail)

    with pytest.raises(OSError, match="no space"):
        table.stage(Rows([1]).as_rows(), draft(0, 0, 2))
    assert os.listdir(f"{table.location}/_staging") == []


def test_of_two_runs_that_commit_a_batch_one_does(table: ParquetTable) -> None:
    first, second = draft(0, 0, 2, attempt="a1"), draft(0, 0, 2, attempt="a2")
    staged = [table.stage(Rows([0, 1]).as_rows(), each) for each in (first, second)]
    staged[0].commit(first)

    with pytest.raises(AlreadyCommitted):
        staged[1].commit(second)
    assert table.count_rows() == 2


def test_a_batch_of_others_is_not_taken_for_ours(table: ParquetTable) -> None:
    first, second = draft(0, 0, 2, attempt="a1"), draft(0, 0, 2, attempt="a2", query="r")
    staged = [table.stage(Rows([0, 1]).as_rows(), each) for each in (first, second)]
    staged[0].commit(first)

    with pytest.raises(FileExistsError):
        staged[1].commit(second)


def test_a_column_may_come_but_not_change(table: ParquetTable) -> None:
    add(table, 0, [0], 0, 1)
    more = draft(1, 1, 2)

    table.stage(Rows([1]).as_rows(), draft(1, 1, 2, columns={**more.columns, "new": "int"}))
    with pytest.raises(TableError, match="column 'id' is string, and the rows have int"):
        table.stage(Rows([1]).as_rows(), draft(1, 1, 2, columns={**more.columns, "id": "int"}))


def test_the_newest_batch_is_found_wherever_it_is(table: ParquetTable) -> None:
    assert table.last(0) is None
    add(table, 0, [0], 0, 1)

    assert table.last(7) == draft(0, 0, 1)


def test_a_directory_without_a_commit_is_not_ours(table: ParquetTable) -> None:
    add(table, 0, [0], 0, 1)
    table.files.make_directory("batch=1")

    with pytest.raises(TableError, match=r"batch=1 has no _commit\.json"):
        list(table.commits())


def test_object_stores_are_for_delta(table: ParquetTable, monkeypatch: pytest.MonkeyPatch) -> None:
    table.check_place()
    monkeypatch.setattr(table.files, "scheme", "s3")

    with pytest.raises(TableError, match="on s3 use a DeltaTable"):
        table.check_place()
