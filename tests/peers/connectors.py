"""Two connectors of Spark, its own for Kafka and ours, asked the same and held to the same answer.

    both.read(options)      batch            ─┐
    both.follow(options)    stream            ├─▶ one outcome: rows, or a failure
    both.write(rows, …)     batch and stream ─┘

Whatever one of them does the other must have done: `Both` compares before it returns, so a test says only what
is asked and, where it matters, what the answer is. Rows are compared whole, down to timestamps and nulls.
A failure equals a failure, because two connectors word them differently.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import spark_partition_id
from pyspark.sql.streaming import StreamingQuery

from andiron.spark.pipeline.query_starter import ATTEMPTS, LATE
from andiron.spark.source.query_lag import offsets_behind

STOCK, OURS = "kafka", "andiron"
FORMATS = (STOCK, OURS)
ERRORS = (PySparkException, Py4JJavaError)

T = TypeVar("T")
Options = Mapping[str, object]
Rows = Callable[[str], DataFrame]  # of a topic's name


class Seen(NamedTuple):
    """One row of a source, in the order in which rows are compared."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: object
    timestamp_type: int
    headers: tuple[tuple[str, bytes | None], ...] | None


@dataclass(frozen=True)
class Failure:
    """That it was not done; equal to any other failure, whatever the words."""

    says: str = field(compare=False)

    def __contains__(self, word: str) -> bool:
        return word.lower() in self.says.lower()


class Both:
    """The two connectors against one cluster."""

    def __init__(self, spark: SparkSession, bootstrap: str, folder: str) -> None:
        self.spark = spark
        self.folder = folder
        self._numbers = itertools.count()
        self.common = {"kafka.bootstrap.servers": bootstrap}

    def read(self, options: Options) -> list[Seen] | Failure:
        """All rows of a batch read."""
        return agreed({each: self._read(each, options) for each in FORMATS})

    def tasks(self, options: Options) -> list[int]:
        """How many rows each task of a batch read has, sorted."""
        return agreed({each: self._tasks(each, options) for each in FORMATS})

    @contextlib.contextmanager
    def follow(self, options: Options, *, once: bool = False) -> Iterator[Streams]:
        """Two streams; `once` reads what is there in batches and ends, else `catch_up` is called."""
        streams = Streams(self, options, once)
        streams.start()
        try:
            yield streams
        finally:
            streams.stop()

    def write(self, rows: Rows, topics: Mapping[str, str], options: Options) -> Failure | None:
        """A batch write by each connector, to the topic that is its own."""
        return agreed(
            {each: self.save(each, rows(topics[each]), own(options, topics[each])) for each in FORMATS}
        )

    def pour(self, rows: Rows, topics: Mapping[str, str], options: Options) -> Failure | None:
        """A stream of what is there written by each connector, to the topic that is its own."""
        return agreed(
            {each: self._pour(each, rows(topics[each]), own(options, topics[each])) for each in FORMATS}
        )

    def _read(self, name: str, options: Options) -> list[Seen] | Failure:
        return outcome(lambda: sorted(map(seen, self.load(name, options).collect()), key=lambda row: row[:3]))

    def _tasks(self, name: str, options: Options) -> list[int]:
        by_task = self.load(name, options).groupBy(spark_partition_id()).count()
        return sorted(row["count"] for row in by_task.collect())

    def load(self, name: str, options: Options) -> DataFrame:
        """A batch read by one of them."""
        return self.spark.read.format(name).options(**{**self.common, **texts(options)}).load()

    def save(self, name: str, rows: DataFrame, options: Options, mode: str = "append") -> Failure | None:
        """A batch write by one of them."""
        writer = rows.write.format(name).options(**{**self.common, **texts(options)}).mode(mode)
        return outcome(writer.save)

    def _pour(self, name: str, rows: DataFrame, options: Options) -> Failure | None:
        told = {**self.common, **texts(options), "checkpointLocation": self.new_folder()}
        stream = rows.writeStream.format(name).options(**told).trigger(availableNow=True)
        return outcome(lambda: stream.start().awaitTermination())

    def new_folder(self) -> str:
        """A checkpoint that nobody has used."""
        return f"{self.folder}/{next(self._numbers)}"


class Streams:
    """The same stream twice, with all that came of it."""

    def __init__(self, both: Both, options: Options, once: bool) -> None:
        self._both = both
        self.options = dict(options)
        self._once = once
        self._readers = dict(
            zip(FORMATS, FORMATS, strict=True)
        )  # whose checkpoint it is, who goes on with it
        self._queries: dict[str, StreamingQuery] = {}
        self._refused: dict[str, Failure] = {}
        self._checkpoints = {each: both.new_folder() for each in FORMATS}

    def start(self) -> None:
        """Start them, or start them again where they stopped."""
        self._refused = {}
        for each in FORMATS:
            started = outcome(lambda each=each: self._start(each))
            if isinstance(started, Failure):
                self._refused[each] = started
            else:
                self._queries[each] = started

    def stop(self) -> None:
        """Stop them; they can be started again."""
        for query in self._queries.values():
            query.stop()
        self._queries = {}

    def change_places(self) -> None:
        """When started again, each goes on with the other's checkpoint."""
        self._readers = {STOCK: self._readers[OURS], OURS: self._readers[STOCK]}

    def catch_up(self) -> list[Seen] | Failure:
        """Every row so far, when all that is there has been read."""
        return agreed(self.outcomes())

    def outcomes(self) -> dict[str, list[Seen] | Failure]:
        """The same of each, for where they differ."""
        return {each: self._catch_up(each) for each in FORMATS}

    def batches(self) -> list[dict[str, dict[str, int]]]:
        """Where each batch that had rows ended."""
        return agreed(
            {
                name: [_ended(each) for each in query.recentProgress if each.numInputRows]
                for name, query in self._queries.items()
            }
        )

    def lag(self) -> list[dict[str, float]]:
        """How far behind its topics each batch that had rows was when it ended."""
        return agreed(
            {
                name: [_behind(name, each) for each in query.recentProgress if each.numInputRows]
                for name, query in self._queries.items()
            }
        )

    def _start(self, name: str) -> StreamingQuery:
        options = {**self._both.common, **texts(self.options)}
        source = self._both.spark.readStream.format(self._readers[name]).options(**options)
        stream = source.load().writeStream
        stream = stream.option("checkpointLocation", self._checkpoints[name])
        return stream.foreachBatch(Keep(self._file(name))).trigger(**self._trigger()).start()

    def _trigger(self) -> dict[str, Any]:
        return {"availableNow": True} if self._once else {"processingTime": "0 seconds"}

    def _catch_up(self, name: str) -> list[Seen] | Failure:
        if name in self._refused:
            return self._refused[name]

        def wait() -> list[Seen]:
            if is_late(self._queries[name].exception()):
                self._queries[name] = self._start(name)
            if self._once:
                self._queries[name].awaitTermination()
            else:
                self._queries[name].processAllAvailable()
            return sorted(kept(self._file(name)), key=lambda row: row[:3])

        return outcome(wait)

    def _file(self, name: str) -> str:
        """Where the rows are kept that came of a stream."""
        return f"{self._checkpoints[name]}.rows"


@dataclass(frozen=True)
class Keep:
    """For foreachBatch: rows into a file, since with Spark Connect this runs in a process of the server's."""

    path: str

    def __call__(self, rows: DataFrame, batch: int) -> None:
        found = [tuple(seen(each)) for each in rows.collect()]
        with open(self.path, "ab") as file:
            pickle.dump(found, file)


def kept(path: str) -> Iterator[Seen]:
    """The rows in a file."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        while file.peek(1):
            yield from (Seen(*each) for each in pickle.load(file))


def outcome(act: Callable[[], T]) -> T | Failure:
    """What came of it. That Spark did not wait for a Python process (pipeline/query_starter.py) is no outcome: a busy
    machine would make two connectors differ which do not, or agree on a failure that only one of them has."""
    for left in range(ATTEMPTS, 0, -1):
        try:
            return act()
        except ERRORS as error:
            if not is_late(error) or left == 1:
                return Failure(str(error))
    raise AssertionError("an attempt has an outcome")


def is_late(why: Exception | None) -> bool:
    """Whether Spark has not waited for a Python process."""
    return LATE in str(why)


def agreed(outcomes: dict[str, Any]) -> Any:
    """What both said."""
    assert outcomes[OURS] == outcomes[STOCK], "\n".join(f"{name}: {each}" for name, each in outcomes.items())
    return outcomes[OURS]


def seen(row: Row) -> Seen:
    """A row as plain values."""
    key, value = (None if each is None else bytes(each) for each in (row.key, row.value))
    place = (row.topic, row.partition, row.offset)
    return Seen(*place, key, value, row.timestamp, row.timestampType, _headers(row))


def texts(options: Options) -> dict[str, str]:
    """Options as they are given to Spark; what is not a text is JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}


def own(options: Options, topic: str) -> Options:
    """The options with the word TOPIC replaced by a topic's name."""
    return {name: topic if value == "TOPIC" else value for name, value in options.items()}


def _ended(progress: Any) -> dict[str, dict[str, int]]:
    """Where a batch ended, without the ids of topics that ours notes beside it."""
    return {topic: ends for topic, ends in json.loads(progress.sources[0].endOffset).items() if ends}


def _behind(name: str, progress: Any) -> dict[str, float]:
    """Of the stock connector's metrics, or by our count; in tenths, as Spark itself tells them unless by Connect."""
    (source,) = progress.sources
    if name == OURS:
        return dict(offsets_behind(source))
    return {each: math.floor(10 * float(n) + 0.5) / 10 for each, n in source.metrics.items()}


def _headers(row: Row) -> tuple[tuple[str, bytes | None], ...] | None:
    if "headers" not in row or row.headers is None:
        return None
    return tuple((each.key, None if each.value is None else bytes(each.value)) for each in row.headers)
