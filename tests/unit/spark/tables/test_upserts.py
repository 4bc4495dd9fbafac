"""Rows that replace others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from andiron.spark.tables import upserts
from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.delta_log import DeltaLog
from andiron.spark.tables.upserts import Upserts
from unit.spark.tables.worlds import draft

COLUMNS = {"Minute of": "string", "country": "string", "records": "bigint"}


class Sums:
    """What a query in update mode gives in a batch."""

    schema = StructType().add("Minute of", "string").add("country", "string").add("records", "long")

    def __init__(self, *rows: tuple[str | None, str | None, int]) -> None:
        self.rows = rows

    def toArrow(self) -> pa.Table:
        types = [pa.string(), pa.string(), pa.int64()]
        arrays = [pa.array([row[at] for row in self.rows], types[at]) for at in range(3)]
        return pa.table(arrays, names=list(COLUMNS))


@pytest.fixture
def store(tmp_path: Path) -> Upserts:
    return Upserts(DeltaLog(str(tmp_path / "table")), list(COLUMNS), ["Minute of", "country"])


def add(store: Upserts, batch: int, *rows: tuple[str | None, str | None, int], **more: Any) -> None:
    made = draft(batch, batch, batch + 1, columns=COLUMNS, **more)
    sums: Any = Sums(*rows)
    staged = store.stage(sums, made)
    assert staged.rows == len(rows)
    staged.commit(made)


def rows_of(store: Upserts) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in store.log.open().to_pyarrow_table().to_pylist()}


def test_rows_with_the_same_keys_are_replaced(store: Upserts) -> None:
    add(store, 0)
    add(store, 1, ("12:00", "DE", 1), ("12:00", "FR", 1))
    add(store, 2, ("12:00", "DE", 2), ("12:01", "DE", 1))
    add(store, 3)

    assert rows_of(store) == {("12:00", "DE", 2), ("12:00", "FR", 1), ("12:01", "DE", 1)}
    assert [each.batch for each in store.log.commits()] == [0, 1, 2, 3]
    assert store.last(4) == store.log.last()


def test_the_first_batch_may_have_rows(store: Upserts) -> None:
    add(store, 0, ("12:00", "DE", 1))
    add(store, 1, ("12:00", "DE", 2))

    assert rows_of(store) == {("12:00", "DE", 2)}


def test_null_is_a_key_like_any_other(store: Upserts) -> None:
    add(store, 0, ("12:00", None, 1))
    add(store, 1, ("12:00", None, 2))

    assert rows_of(store) == {("12:00", None, 2)}


def test_two_rows_of_one_key_in_a_batch_are_refused(store: Upserts) -> None:
    with pytest.raises(TableError, match="'country': 'DE'} is the key of 2 rows of one batch"):
        add(store, 0, ("12:00", "DE", 1), ("12:00", "DE", 2))
    assert store.log.open() is None


def test_a_key_is_a_column() -> None:
    with pytest.raises(ValueError, match="no column 'city'"):
        Upserts(DeltaLog("t"), ["country"], ["city"])
    with pytest.raises(ValueError, match="which columns"):
        Upserts(DeltaLog("t"), ["country"], [])


def test_columns_stay_as_they_are(store: Upserts) -> None:
    add(store, 0)

    with pytest.raises(TableError, match="column 'records' is bigint, and the rows have int"):
        sums: Any = Sums()
        store.stage(sums, draft(1, 1, 2, columns={**COLUMNS, "records": "int"}))


def test_what_was_replaced_is_removed_after_a_while(store: Upserts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upserts, "SETTINGS", {"delta.deletedFileRetentionDuration": "interval 0 hours"})
    monkeypatch.setattr(upserts, "VACUUM_EVERY", 2)
    add(store, 0, ("12:00", "DE", 1))
    store.clean(None)
    add(store, 1, ("12:00", "DE", 2))

    files = list(Path(store.log.location).glob("*.parquet"))
    assert len(files) == 1


def test_a_table_that_cannot_be_cleaned_is_cleaned_another_time(
    store: Upserts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise deltalake.exceptions.DeltaError("busy")

    monkeypatch.setattr(upserts, "VACUUM_EVERY", 1)
    monkeypatch.setattr(deltalake.DeltaTable, "vacuum", fail)

    add(store, 0, ("12:00", "DE", 1))

    assert "cannot be cleaned now" in caplog.text
