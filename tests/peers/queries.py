"""Reads and streams of `format("andiron")` in a test: started in a line, their rows at hand."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

TIMEOUT_S = 120


class Queries:
    """What a test asks of one cluster, with a checkpoint of its own."""

    def __init__(self, spark: SparkSession, bootstrap: str, checkpoint: str) -> None:
        self.spark = spark
        self.checkpoint = checkpoint
        self.batches: list[list[str]] = []  # the values of every batch that was run, in order
        self._bootstrap = bootstrap

    def read(self, topic: str | None = None, **options: Any) -> DataFrame:
        """A batch read."""
        return self.spark.read.format("andiron").options(**self._options(topic, options)).load()

    def stream(self, topic: str | None = None, **options: Any) -> DataFrame:
        """A stream, from the beginning unless told otherwise."""
        told = self._options(topic, {"startingOffsets": "earliest", **options})
        return self.spark.readStream.format("andiron").options(**told).load()

    def catch_up(self, topic: str | None = None, **options: Any) -> list[str]:
        """Run the query of this checkpoint until it has read all that is there; the values that it read."""
        before = len(self.batches)
        query = self.start(self.stream(topic, **options), availableNow=True)
        assert query.awaitTermination(TIMEOUT_S), "it does not come to an end"
        return sorted(value for batch in self.batches[before:] for value in batch)

    def start(self, rows: DataFrame, **trigger: Any) -> StreamingQuery:
        """Start a query that collects values."""

        def keep(batch: DataFrame, _: int) -> None:
            self.batches.append(values(batch))

        writer = rows.writeStream.foreachBatch(keep).option("checkpointLocation", self.checkpoint)
        return writer.trigger(**trigger or {"processingTime": "0 seconds"}).start()

    def offsets(self, batch: int) -> dict[str, dict[str, int]]:
        """Where a batch ended in each partition, as Spark has written it down."""
        with open(f"{self.checkpoint}/offsets/{batch}", encoding="utf-8") as file:
            told: dict[str, dict[str, int]] = json.loads(file.read().splitlines()[-1])
        return {topic: offsets for topic, offsets in told.items() if offsets}

    def _options(self, topic: str | None, options: dict[str, Any]) -> dict[str, str]:
        which = {} if topic is None else {"subscribe": topic}
        told = {"kafka.bootstrap.servers": self._bootstrap, **which, **options}
        return {name: each if isinstance(each, str) else json.dumps(each) for name, each in told.items()}


def values(rows: DataFrame) -> list[str]:
    """The values of some rows, sorted."""
    return sorted(bytes(row.value).decode() for row in rows.select("value").collect())
