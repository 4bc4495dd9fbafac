"""Delta tables that are appended to."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.delta import DeltaTable
from unit.spark.tables.worlds import Rows, checkpoint, draft, without_spark


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeltaTable:
    without_spark(monkeypatch)
    return DeltaTable(str(tmp_path / "table"))


def add(table: DeltaTable, batch: int, offsets: list[int], start: int, end: int) -> None:
    made = draft(batch, start, end)
    table.stage(Rows(offsets).as_rows(), made).commit(made)


def test_a_committed_batch_is_there_with_its_ranges(table: DeltaTable) -> None:
    add(table, 0, [], 0, 0)
    add(table, 1, [0, 1, 2], 0, 3)

    assert [each.batch for each in table.commits()] == [0, 1]
    assert table.last(1) == draft(1, 0, 3)
    assert sorted(table.dataset().to_table().column("offset").to_pylist()) == [0, 1, 2]
    assert table.count_rows() == 3


def test_of_a_table_as_of_now_nothing_is_seen_that_comes_later(table: DeltaTable) -> None:
    add(table, 0, [0], 0, 1)
    add(table, 1, [1], 1, 2)
    now = table.as_of_now()
    add(table, 2, [2, 3], 2, 4)

    assert [each.batch for each in now.commits()] == [0, 1]
    assert now.count_rows() == 2
    assert [each.batch for each in table.commits()] == [0, 1, 2]


def test_files_are_passed_over_by_their_offsets(table: DeltaTable) -> None:
    add(table, 0, [0, 1, 2], 0, 3)
    add(table, 1, [3, 4, 5], 3, 6)

    wanted = ds.field("offset") >= 4
    assert len(list(table.dataset().get_fragments(wanted))) == 1
    assert sorted(
        each.as_py() for rows in table.scan(["offset"], None, wanted) for each in rows.column(0)
    ) == [4, 5]


def test_the_first_batch_may_have_rows(table: DeltaTable) -> None:
    add(table, 0, [0, 1, 2], 0, 3)

    assert table.count_rows() == 3


def test_a_batch_without_rows_leaves_no_file(table: DeltaTable) -> None:
    add(table, 0, [], 0, 0)

    assert os.listdir(table.location) == ["_delta_log"]


def test_what_is_staged_is_not_in_the_table(table: DeltaTable) -> None:
    add(table, 0, [0], 0, 1)
    table.stage(Rows([1]).as_rows(), draft(1, 1, 2))

    assert table.count_rows() == 1


def test_what_killed_runs_have_left_is_removed_and_no_more(table: DeltaTable) -> None:
    add(table, 0, [0], 0, 1)
    add(table, 1, [1], 1, 2)
    table.stage(Rows([1]).as_rows(), draft(1, 1, 2, attempt="b2"))
    table.stage(Rows([2]).as_rows(), draft(2, 2, 3))

    table.clean(table.last(2))

    assert sorted(os.listdir(table.location)) == ["_delta_log", "batch-0-a1", "batch-1-a1"]
    assert table.count_rows() == 2


def test_a_run_whose_rows_were_removed_cannot_commit_them(table: DeltaTable) -> None:
    add(table, 0, [0], 0, 1)
    paused = table.stage(Rows([1]).as_rows(), draft(1, 1, 2))

    table.clean(table.last(1))

    with pytest.raises(TableError, match="could not be committed"):
        paused.commit(draft(1, 1, 2))
    assert table.count_rows() == 1


def test_what_is_discarded_is_removed(table: DeltaTable) -> None:
    table.stage(Rows([1]).as_rows(), draft(0, 0, 2)).discard()

    assert os.listdir(table.location) == []


def test_what_could_not_be_written_is_removed(table: DeltaTable, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[object]:
        raise OSError("no space left")

    monkeypatch.setattr("andiron.spark.tables.delta.parts", fail)

    with pytest.raises(OSError, match="no space"):
        table.stage(Rows([1]).as_rows(), draft(0, 0, 2))
    assert os.listdir(table.location) == []


def test_columns_stay_as_they_are(table: DeltaTable) -> None:
    add(table, 0, [0], 0, 1)
    columns = dict(draft(1, 1, 2).columns)

    with pytest.raises(TableError, match="column 'new' is not there, and the rows have int"):
        table.stage(Rows([1]).as_rows(), draft(1, 1, 2, columns={**columns, "new": "int"}))
    del columns["id"]
    with pytest.raises(TableError, match="has a column 'id', and the rows have not"):
        table.stage(Rows([1]).as_rows(), draft(1, 1, 2, columns=columns))


def test_an_upsert_promises_its_count_or_nothing(table: DeltaTable, tmp_path: Path) -> None:
    at = checkpoint(tmp_path / "checkpoint")
    rows = Rows([]).as_rows()

    letters = {"dead_letters": "dead", "reader": "me", "reader_group": "readers"}
    counted = table.upserting(rows, ["id"], checkpoint=at, count="offset", **letters)
    assert (counted.mode, counted.promise.holds, counted.promise.count) == ("upsert", "count", "offset")
    assert counted.promise.dead_letters == ("dead", "me", "readers")
    assert table.upserting(rows, ["id"], checkpoint=at).promise.holds == "other"
    table.check_place()
