"""A job that writes a table until the log ends, or until it reaches the step at which it is killed.

Started by test_table_kills.py in a process group of its own, all of which is killed at once: the driver, its JVM and
the tasks, as when a machine goes down.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from andiron.spark import DeltaTable, ParquetTable, session, steps, typed_json

SCHEMA = "id STRING NOT NULL, shop INT NOT NULL"
AFTER_COMMIT = "table_after_commit"


def main(told: dict[str, Any]) -> None:
    """Run one query."""
    if told["kill_at"]:
        step, batch = told["kill_at"]
        steps.reached = lambda name, number: kill() if (name, number) == (step, batch) else None
    writer = WRITERS[told["kind"]](read(session("kills", master="local[2]"), told), told)
    writer.trigger(availableNow=True).start().awaitTermination()


def kill() -> None:
    """End everything, at once."""
    os.killpg(0, signal.SIGKILL)


def read(spark: SparkSession, told: dict[str, Any]) -> Any:
    """The topic, in small batches."""
    options = {
        "kafka.bootstrap.servers": told["bootstrap"],
        "subscribe": told["topic"],
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": told["batch"],
    }
    records = spark.readStream.format("andiron").options(**options).load()
    return typed_json(records, SCHEMA, dead_letters=told["dead"])


def parquet(typed: Any, told: dict[str, Any]) -> Any:
    """Records and dead letters."""
    table = ParquetTable(told["table"])
    return table.append(typed, checkpoint=told["checkpoint"], bootstrap=told["bootstrap"])


def delta(typed: Any, told: dict[str, Any]) -> Any:
    """Records and dead letters."""
    table = DeltaTable(told["table"])
    return table.append(typed, checkpoint=told["checkpoint"], bootstrap=told["bootstrap"])


def upsert(typed: Any, told: dict[str, Any]) -> Any:
    """How many there are of each shop; the dead letters are left out."""
    sums = typed.rows.groupBy("shop").agg(fn.count("*").alias("records"))
    return DeltaTable(told["table"]).upsert(sums, ["shop"], checkpoint=told["checkpoint"], count="records")


def naive(typed: Any, told: dict[str, Any]) -> Any:
    """What one writes without thinking of it."""

    def append(rows: DataFrame, batch: int) -> None:
        rows.write.mode("append").parquet(told["table"])
        steps.reached(AFTER_COMMIT, batch)

    return typed.rows.writeStream.foreachBatch(append).option("checkpointLocation", told["checkpoint"])


WRITERS = {"parquet": parquet, "delta": delta, "upsert": upsert, "naive": naive}

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
