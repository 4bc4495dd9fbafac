"""What does a connector cost inside Spark? One session, one connector, every way through it.

A program in a session of its own (setsid), since Spark's Python workers leave its process group: what all of
them used is counted together. Each way is taken once, whole, before it is measured, so that the compilers of the JVM
and the import of pyspark are in no figure: a query that runs for minutes has left them behind.

    read_stream    topic → noop, in five micro-batches, of which the first is not counted
    read_batch     topic → noop
    write_stream   files → topic, five files, a micro-batch each, the first not counted
    write_batch    files → topic
    small_batches  a record of each partition a micro-batch, topic → noop: the price of a batch
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

import usage
from andiron.spark import session
from loads import answer

BATCHES = 5
SMALL_BATCHES = 24


class Cost(NamedTuple):
    """Of the rows that were counted."""

    rate: float
    cpu: float  # seconds for a million


class Ways:
    """The ways through one connector."""

    def __init__(self, spark: SparkSession, form: str, port: int, folder: str, sink: dict[str, str]) -> None:
        self.spark, self.form, self.folder, self.sink = spark, form, folder, sink
        self.place = {"kafka.bootstrap.servers": f"127.0.0.1:{port}"}

    def read_stream(self, topic: str, rows: int, out: str) -> Cost:
        limited = self._stream(topic, maxOffsetsPerTrigger=str(-(-rows // BATCHES)))
        return self._run(limited.writeStream.format("noop"))

    def read_batch(self, topic: str, rows: int, out: str) -> Cost:
        reader = self.spark.read.format(self.form).options(**self.place, subscribe=topic)
        return _cost(rows, lambda: reader.load().write.format("noop").mode("append").save())

    def write_stream(self, topic: str, rows: int, out: str) -> Cost:
        files = self._files(topic, rows)
        schema = self.spark.read.parquet(files).schema
        stream = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").parquet(files)
        return self._run(stream.writeStream.format(self.form).options(**self.place, **self.sink, topic=out))

    def write_batch(self, topic: str, rows: int, out: str) -> Cost:
        frame = self.spark.read.parquet(self._files(topic, rows))
        writer = frame.write.format(self.form).options(**self.place, topic=out).mode("append")
        return _cost(rows, writer.save)

    def small_batches(self, topic: str) -> float:
        """Milliseconds of a micro-batch."""
        stream = self._stream(topic, maxOffsetsPerTrigger="1")
        query = self._started(stream.writeStream.format("noop"), seconds=0)
        while len(query.recentProgress) < SMALL_BATCHES and query.isActive:
            time.sleep(0.1)
        query.stop()
        took = [
            each["durationMs"]["triggerExecution"] for each in query.recentProgress if each["numInputRows"]
        ]
        return statistics.median(took[len(took) // 3 :])

    def _files(self, topic: str, rows: int) -> str:
        """The records of a topic as Parquet, one file a micro-batch; made once, by whichever is first."""
        path = f"{self.folder}/{topic}-{rows}.parquet"
        if not os.path.exists(path):
            made = self.spark.range(0, rows, 1, BATCHES).selectExpr(
                "cast(cast(id as string) as binary) as key",
                "cast(concat(cast(id as string), repeat('x', 120)) as binary) as value",
            )
            made.write.parquet(path)
        return path

    def _stream(self, topic: str, **options: str) -> DataFrame:
        reader = self.spark.readStream.format(self.form)
        return reader.options(**self.place, subscribe=topic, startingOffsets="earliest", **options).load()

    def _started(self, writer: Any, seconds: int | None) -> Any:
        checkpoint = tempfile.mkdtemp(dir=self.folder)
        trigger = {"availableNow": True} if seconds is None else {"processingTime": f"{seconds} seconds"}
        return writer.option("checkpointLocation", checkpoint).trigger(**trigger).start()

    def _run(self, writer: Any) -> Cost:
        query = self._started(writer, None)
        while not _batches(query) and query.isActive:
            time.sleep(0.01)
        uncounted, before = len(_batches(query)), usage.session_cpu_seconds(os.getpid())
        query.awaitTermination()
        counted = _batches(query)[uncounted:]
        rows = sum(each["numInputRows"] for each in counted)
        seconds = sum(each["durationMs"]["triggerExecution"] for each in counted) / 1e3
        return Cost(rows / seconds, (usage.session_cpu_seconds(os.getpid()) - before) / rows * 1e6)


def _batches(query: Any) -> list[Any]:
    return [each for each in query.recentProgress if each["numInputRows"]]


def _cost(rows: int, run: Callable[[], None]) -> Cost:
    started, before = time.perf_counter(), usage.session_cpu_seconds(os.getpid())
    run()
    used = usage.session_cpu_seconds(os.getpid()) - before
    return Cost(rows / (time.perf_counter() - started), used / rows * 1e6)


def load(
    port: int, form: str, jars: str, topic: str, rows: int, folder: str, sink: dict[str, str]
) -> dict[str, float]:
    os.setsid()
    spark = session("bench", master="local[2]", **({"spark.jars": jars} if jars else {}))
    ways = Ways(spark, form, port, folder, sink)
    found: dict[str, float] = {}
    each: Callable[[str, int, str], Cost]
    for each in (ways.read_stream, ways.read_batch, ways.write_stream, ways.write_batch):
        name, out = each.__name__, f"{topic}_{form}_{each.__name__}"
        each(topic, rows, out)
        found[name], found[f"{name}_cpu"] = each(topic, rows, out)
    found["small_batches"] = ways.small_batches(topic)
    found["memory_mb"] = usage.session_memory_mb(os.getpid())
    spark.stop()
    return found


if __name__ == "__main__":
    answer(load)
