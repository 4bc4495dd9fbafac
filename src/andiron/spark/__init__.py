"""Spark on the log: a session ready for the machine, the connector behind `format("andiron")`, and tables.

    from andiron import spark
    session = spark.session()
    session.readStream.format("andiron").option("kafka.bootstrap.servers", …).option("subscribe", "orders").load()

    runtime/      a session, the Java under it, and what executors on other machines need
    connector.py  format("andiron"), in two halves that know nothing of each other:
      source/       a topic as rows, streaming and batch
      sink/         rows into topics, exactly once
    frames/       DataFrames to DataFrames: typed rows and dead letters, windows, the latest of each key
    tables/       Parquet and Delta tables that know which offsets they hold
    pipeline/     jobs that are run, watched and stopped from the command line

What is named here is imported when it is first asked for, because Spark's executors import this package in
every task and need little of it.

Read next: runtime/session.py, connector.py, tables/table.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

LATER = {  # name → the module that has it
    "DeltaTable": "andiron.spark.tables.delta",
    "NoJava": "andiron.spark.runtime.java",
    "ParquetTable": "andiron.spark.tables.parquet",
    "TableError": "andiron.spark.tables.checkpoint",
    "Typed": "andiron.spark.frames.typed",
    "await_queries": "andiron.spark.pipeline.stop_request",
    "deduplicated": "andiron.spark.frames.deduplication",
    "late_rows": "andiron.spark.frames.windows",
    "latest_per_key": "andiron.spark.frames.latest",
    "offsets_behind": "andiron.spark.source.query_lag",
    "read_dead_letters": "andiron.spark.frames.dead_letters",
    "session": "andiron.spark.runtime.session",
    "start_queries": "andiron.spark.pipeline.query_starter",
    "start_query": "andiron.spark.pipeline.query_starter",
    "typed_json": "andiron.spark.frames.typed",
    "windowed": "andiron.spark.frames.windows",
}
__all__ = [
    "DeltaTable",
    "NoJava",
    "ParquetTable",
    "TableError",
    "Typed",
    "await_queries",
    "deduplicated",
    "late_rows",
    "latest_per_key",
    "offsets_behind",
    "read_dead_letters",
    "session",
    "start_queries",
    "start_query",
    "typed_json",
    "windowed",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(LATER[name]), name)
