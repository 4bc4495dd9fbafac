"""The format of the table at a path: Delta, or Parquet in directories of batches."""

from __future__ import annotations

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.delta import DeltaTable
from andiron.spark.tables.files import Files
from andiron.spark.tables.parquet import ParquetTable
from andiron.spark.tables.table import Table

DELTA_LOG = "_delta_log"


def open_table(path: str) -> Table:
    """Open the table at a path, in whichever format it is kept; TableError if none is there."""
    files = Files(path)
    if not files.exists():
        raise TableError(f"there is no table at {files}: nothing is there")
    if files.exists(DELTA_LOG):
        return DeltaTable(path)
    if not any(each.is_directory and each.name.startswith("batch=") for each in files.list()):
        raise TableError(
            f"{files} is not a table: it has neither {DELTA_LOG} nor directories batch=…; give the table's own"
        )
    return ParquetTable(path)
