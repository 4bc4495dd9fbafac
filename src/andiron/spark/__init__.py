"""Spark on the log: a session ready for the machine, the connector behind `format("andiron")`, and tables.

    from andiron import spark
    session = spark.session()
    session.readStream.format("andiron").option("kafka.bootstrap.servers", …).option("subscribe", "orders").load()

What is named here is imported when it is first asked for, because Spark's executors import this package in
every task and need little of it. `session` alone is imported at once: it has the name of its module, and
whichever is bound last would hide the other.

Read next: session.py, source.py, sink.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from andiron.spark.session import session

LATER = {  # name → the module that has it
    "DeltaTable": "andiron.spark.tables.delta",
    "ParquetTable": "andiron.spark.tables.parquet",
    "TableError": "andiron.spark.tables.ranges",
    "Typed": "andiron.spark.typed",
    "deduplicated": "andiron.spark.deduplication",
    "late_rows": "andiron.spark.windows",
    "latest_per_key": "andiron.spark.latest",
    "read_dead_letters": "andiron.spark.dead_letters",
    "typed_json": "andiron.spark.typed",
    "windowed": "andiron.spark.windows",
}
__all__ = [
    "DeltaTable",
    "ParquetTable",
    "TableError",
    "Typed",
    "deduplicated",
    "late_rows",
    "latest_per_key",
    "read_dead_letters",
    "session",
    "typed_json",
    "windowed",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(LATER[name]), name)
