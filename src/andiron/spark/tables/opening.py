"""The table at a path, whichever kind it is."""

from __future__ import annotations

from andiron.spark.tables.delta import DeltaTable
from andiron.spark.tables.files import Files
from andiron.spark.tables.parquet import ParquetTable
from andiron.spark.tables.ranges import TableError
from andiron.spark.tables.table import Table

DELTA_LOG = "_delta_log"


def open_table(path: str) -> Table:
    """A table that is there."""
    files = Files(path)
    if not files.exists():
        raise TableError(f"there is nothing at {files}")
    if files.exists(DELTA_LOG):
        return DeltaTable(path)
    if not any(each.is_directory and each.name.startswith("batch=") for each in files.list()):
        raise TableError(
            f"{files} is not a table: it has neither {DELTA_LOG} nor directories batch=…; give the table's own"
        )
    return ParquetTable(path)
