"""The table at a path."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pytest

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.table_format import open_table
from unit.spark.tables.worlds import table_of


def test_a_table_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path / "delta"), table_of([1]))
    (tmp_path / "parquet" / "batch=0").mkdir(parents=True)

    assert open_table(str(tmp_path / "delta")).kind == "Delta"
    assert open_table(str(tmp_path / "parquet")).kind == "Parquet"


def test_what_is_no_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="is not a table"):
        open_table(str(tmp_path))
    with pytest.raises(TableError, match="nothing is there"):
        open_table(str(tmp_path / "nowhere"))
