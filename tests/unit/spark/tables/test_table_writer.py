"""One batch, written once, whatever happens on the way."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from andiron.spark import steps
from andiron.spark.tables.checkpoint import Checkpoint, TableError
from andiron.spark.tables.delta import DeltaTable
from andiron.spark.tables.parquet import ParquetTable
from andiron.spark.tables.table import Table
from andiron.spark.tables.table_commit import TablePromise
from andiron.spark.tables.table_writer import TableWriter
from unit.spark.tables.worlds import Rows, checkpoint, without_spark

Make = Callable[[], TableWriter]
STEPS = ("table_before_write", "table_after_write", "table_before_commit", "table_after_commit")


class Killed(BaseException):
    """The driver is gone."""


@pytest.fixture(params=[ParquetTable, DeltaTable])
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    without_spark(monkeypatch)
    monkeypatch.setattr("andiron.spark.tables.table_writer.late_groups", lambda *_: 0)
    made: Table = request.param(str(tmp_path / "table"))
    return made


@pytest.fixture
def run(table: Table, tmp_path: Path) -> Make:
    """A run of the query: a new writer, on the checkpoint that is there."""
    at = checkpoint(tmp_path / "checkpoint", 0, 3, 5)
    return lambda: TableWriter(table, Checkpoint(at), TablePromise())


def offsets(table: Table) -> list[int]:
    return sorted(each for rows in table.scan(["offset"]) for each in rows.column(0).to_pylist())


def test_batches_follow_each_other(table: Table, run: Make) -> None:
    write = run()
    write(Rows([]).as_rows(), 0)
    write(Rows([0, 1, 2]).as_rows(), 1)
    write(Rows([3, 4]).as_rows(), 2)

    assert offsets(table) == [0, 1, 2, 3, 4]
    assert [each.rows for each in table.commits()] == [0, 3, 2]


def test_batches_are_written_through_spark_connect_too(table: Table, run: Make) -> None:
    """The writer travels to a process of the server's, and Spark does not say there which query it is."""
    write = pickle.loads(pickle.dumps(run()))
    write(Rows([], connected=True).as_rows(), 0)
    write(Rows([0, 1, 2], connected=True).as_rows(), 1)

    assert offsets(table) == [0, 1, 2]


def test_a_batch_that_is_there_is_read_and_not_written(table: Table, run: Make) -> None:
    run()(Rows([]).as_rows(), 0)
    run()(Rows([0, 1, 2]).as_rows(), 1)

    again = Rows([0, 1, 2])
    run()(again.as_rows(), 1)

    assert again.reads == ["noop"]
    assert offsets(table) == [0, 1, 2]


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_is_killed_leaves_whole_batches_and_nothing_else(
    table: Table, run: Make, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()(Rows([]).as_rows(), 0)
    _kill_at(step, monkeypatch)
    with pytest.raises(Killed):
        run()(Rows([0, 1, 2]).as_rows(), 1)
    assert offsets(table) in ([], [0, 1, 2])
    monkeypatch.undo()
    without_spark(monkeypatch)
    monkeypatch.setattr("andiron.spark.tables.table_writer.late_groups", lambda *_: 0)

    write = run()
    write(Rows([0, 1, 2]).as_rows(), 1)
    write(Rows([3, 4]).as_rows(), 2)

    assert offsets(table) == [0, 1, 2, 3, 4]
    names = {path.name.partition("-")[0].partition("=")[0] for path in Path(table.location).iterdir()}
    assert names <= {"batch", "_delta_log", "_staging"}
    assert list(Path(table.location).glob("_staging/*")) == []
    assert len(list(Path(table.location).glob("batch[-=]1*"))) == 1


def _kill_at(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed processes do not clean up."""

    def reached(name: str, batch: int) -> None:
        if name == step:
            raise Killed

    monkeypatch.setattr(steps, "reached", reached)
    for module in ("parquet.StagedDirectory", "delta.StagedAppend"):
        monkeypatch.setattr(f"andiron.spark.tables.{module}.discard", lambda self: None)


def test_what_fails_is_cleaned_up_at_once(table: Table, run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(name: str, batch: int) -> None:
        if name == "table_before_commit":
            raise OSError("no space left")

    run()(Rows([]).as_rows(), 0)
    monkeypatch.setattr(steps, "reached", reached)

    with pytest.raises(OSError, match="no space"):
        run()(Rows([0, 1, 2]).as_rows(), 1)
    assert list(Path(table.location).glob("_staging/*")) == list(Path(table.location).glob("batch-1-*")) == []


def test_a_run_that_is_overtaken_gives_way(table: Table, run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run()(Rows([]).as_rows(), 0)
    other = run()

    def reached(name: str, batch: int) -> None:
        if name == "table_before_commit":
            monkeypatch.setattr(steps, "reached", lambda *_: None)
            monkeypatch.setattr(other, "_is_clean", True)  # it has begun before
            other(Rows([0, 1, 2]).as_rows(), 1)

    monkeypatch.setattr(steps, "reached", reached)
    run()(Rows([0, 1, 2]).as_rows(), 1)

    assert offsets(table) == [0, 1, 2]


def test_more_rows_than_offsets_are_refused(table: Table, run: Make) -> None:
    write = run()
    write(Rows([]).as_rows(), 0)

    with pytest.raises(TableError, match="batch 1 has 4 rows of 3 offsets"):
        write(Rows([0, 1, 2, 2]).as_rows(), 1)


def test_the_checkpoint_must_be_that_of_the_query(table: Table, run: Make) -> None:
    with pytest.raises(TableError, match="checkpoint of the query q, and this is r"):
        run()(Rows([], query="r").as_rows(), 0)
    run()(Rows([], query=None).as_rows(), 0)  # a Spark that does not say


def test_a_new_checkpoint_is_refused(table: Table, run: Make, tmp_path: Path) -> None:
    run()(Rows([]).as_rows(), 0)
    at = checkpoint(tmp_path / "other", 0, query="r")

    with pytest.raises(TableError, match="written by the query q"):
        TableWriter(table, Checkpoint(at), TablePromise())(Rows([], query="r").as_rows(), 0)
