"""Jobs for the arena: each reads the source topic and brings its values somewhere.

A job is a function of a session and a `Stage`, and returns a writer that lacks only its checkpoint and its trigger.
One that is to hold is exactly once. Those that are naive show that the arena can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter


@dataclass(frozen=True)
class Stage:
    """Where a job finds its input, and where it may put what it makes."""

    bootstrap: str
    source: str
    target: str  # a topic of the job's own
    folder: str  # and a folder
    rows_per_batch: int = 200

    @property
    def checkpoint(self) -> str:
        return f"{self.folder}/checkpoint"


def source_of(spark: SparkSession, stage: Stage) -> DataFrame:
    """The input, in small batches."""
    told = {
        "kafka.bootstrap.servers": stage.bootstrap,
        "subscribe": stage.source,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(stage.rows_per_batch),
    }
    return spark.readStream.format("andiron").options(**told).load()


def sink_of(rows: DataFrame, stage: Stage, **options: str) -> DataStreamWriter:
    """Into the target topic, by the sink."""
    told = {"kafka.bootstrap.servers": stage.bootstrap, "topic": stage.target, **options}
    return rows.select("key", "value").writeStream.format("andiron").options(**told)


def sink(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """The exactly-once sink, with the offsets in a group beside it; its timeout is shorter than any outage."""
    told = {"kafka.transaction.timeout.ms": "1000", "group.id": f"{stage.target}-progress"}
    return sink_of(source_of(spark, stage), stage, **told)


def hasty(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """The same where there is no two-phase commit: whoever dies stays away longer than the timeout."""
    told = {
        "kafka.transaction.timeout.ms": "4000",
        "kafka.transaction.two.phase.commit.enable": "false",
        "group.id": f"{stage.target}-progress",
    }
    return sink_of(source_of(spark, stage), stage, **told)


def patient(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """The same with a timeout that nobody stays away so long."""
    return sink_of(source_of(spark, stage), stage, **{"group.id": f"{stage.target}-progress"})


def foreach(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """The same from within foreachBatch."""
    return _foreach(spark, stage, {"sink.id": "out", "kafka.transaction.timeout.ms": "1000"})


def naive(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """At least once."""
    return sink_of(source_of(spark, stage), stage, **{"delivery.guarantee": "at_least_once"})


def naive_foreach(spark: SparkSession, stage: Stage) -> DataStreamWriter:
    """At least once, from within foreachBatch."""
    return _foreach(spark, stage, {})


def _foreach(spark: SparkSession, stage: Stage, options: dict[str, str]) -> DataStreamWriter:
    told = {"kafka.bootstrap.servers": stage.bootstrap, "topic": stage.target, **options}

    def write(rows: DataFrame, _: int) -> None:
        rows.select("key", "value").write.format("andiron").options(**told).mode("append").save()

    return source_of(spark, stage).writeStream.foreachBatch(write)
