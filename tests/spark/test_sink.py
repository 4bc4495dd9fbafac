"""The sink in Spark itself: streams, batch writes, writes in foreachBatch; and what cannot be written.

What dies while it writes: test_kills.py.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from peers.clients.base import Record
from peers.committed import committed_offsets
from peers.node import Node
from peers.topics import Topics
from peers.waiting import eventually

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from peers.queries import Queries

queries_of = pytest.importorskip("peers.queries", reason="pyspark is not installed")


class Sinks:
    """Writes of one test."""

    def __init__(self, spark: SparkSession, node: Node, checkpoint: str) -> None:
        self.spark, self.checkpoint = spark, checkpoint
        self.queries: Queries = queries_of.Queries(spark, node.bootstrap, checkpoint)
        self.where = {"kafka.bootstrap.servers": node.bootstrap}

    def run(self, rows: DataFrame, **options: str) -> None:
        """A stream, until it has written all that is there."""
        told = {**self.where, **_named(options), "checkpointLocation": self.checkpoint}
        query = rows.writeStream.format("andiron").options(**told).trigger(availableNow=True).start()
        assert query.awaitTermination(120), "it does not come to an end"

    def save(self, rows: DataFrame, mode: str = "append", **options: str) -> None:
        rows.write.format("andiron").options(**self.where, **_named(options)).mode(mode).save()

    def forget_commit(self) -> int:
        """As if Spark had been killed before it wrote down that its last batch is done."""
        last = max(int(name) for name in os.listdir(f"{self.checkpoint}/commits") if name.isdigit())
        for name in (f"{last}", f".{last}.crc"):
            os.remove(f"{self.checkpoint}/commits/{name}")
        return last


def _named(options: dict[str, str]) -> dict[str, str]:
    return {name.replace("__", "."): value for name, value in options.items()}


@pytest.fixture
def sinks(spark: SparkSession, node: Node, checkpoint: str) -> Sinks:
    return Sinks(spark, node, checkpoint)


def test_a_stream_is_written_with_its_progress(sinks: Sinks, topics: Topics, node: Node) -> None:
    source, target = topics.make(2), topics.make(3)
    topics.write(source, ["a", "b"])
    topics.write(source, ["c"], partition=1)
    group = f"{target}-progress"

    sinks.run(sinks.queries.stream(source), topic=target, group__id=group)

    eventually(lambda: topics.values(target) == ["a", "b", "c"])
    eventually(lambda: committed_offsets(node.bootstrap, group, source) == {0: 2, 1: 1})


def test_a_batch_that_spark_repeats_is_written_once(sinks: Sinks, topics: Topics) -> None:
    source, target = topics.make(), topics.make()
    topics.write(source, ["a", "b"])
    sinks.run(sinks.queries.stream(source), topic=target)
    sinks.forget_commit()
    topics.write(source, ["c"])

    sinks.run(sinks.queries.stream(source), topic=target)

    eventually(lambda: topics.values(target) == ["a", "b", "c"])


def test_at_least_once_it_is_written_twice(sinks: Sinks, topics: Topics) -> None:
    source, target = topics.make(), topics.make()
    topics.write(source, ["a", "b"])
    for _ in range(2):
        sinks.run(sinks.queries.stream(source), topic=target, delivery__guarantee="at_least_once")
        sinks.forget_commit()

    assert topics.values(target) == ["a", "a", "b", "b"]


def test_keys_headers_partitions_and_topics_of_rows_are_written(sinks: Sinks, topics: Topics) -> None:
    first, second = topics.make(2), topics.make(2)
    rows = sinks.spark.sql(f"""
        SELECT * FROM VALUES
            ('{first}', 'k', 'v', 1, array(struct('h' AS key, CAST('x' AS binary) AS value))),
            ('{second}', NULL, 'w', 0, NULL)
        AS rows(topic, key, value, partition, headers)
    """)

    sinks.save(rows)

    eventually(lambda: len(topics.read(first, 1)) == 1 and len(topics.read(second, 0)) == 1)
    (record,) = topics.read(first, 1)
    assert (record.key, record.value, [*record.headers]) == (b"k", b"v", [("h", b"x")])
    (record,) = topics.read(second, 0)
    assert (record.key, record.value, [*record.headers]) == (None, b"w", [])


def test_a_batch_write_that_fails_leaves_nothing(sinks: Sinks, topics: Topics) -> None:
    target = topics.make()
    rows = sinks.spark.range(100).repartition(2)
    failing = rows.selectExpr("CAST(IF(id = 77, raise_error('bad row'), id) AS string) AS value")

    with pytest.raises(Exception, match="bad row"):
        sinks.save(failing, topic=target)

    eventually(lambda: topics.client.stable_offset(target, 0) == topics.end(target))
    assert topics.values(target) == []


@pytest.mark.parametrize(
    ("columns", "options", "complaint"),
    [
        ("id", {"topic": "t"}, "there is no column `value` to write"),
        ("id AS value", {"topic": "t"}, "column `value` is bigint, and must be string or binary"),
        ("'v' AS value", {}, "say option `topic`, or have a column `topic`"),
        ("'v' AS value, CAST(NULL AS string) AS topic", {}, "a row has no topic"),
        (
            "'v' AS value",
            {"topic": "t", "kafka__value__serializer": "x"},
            "kafka.value.serializer: not supported",
        ),
        (
            "'v' AS value",
            {"topic": "t", "delivery__guarantee": "x"},
            "neither exactly_once nor at_least_once",
        ),
    ],
)
def test_what_cannot_be_written_is_said(
    sinks: Sinks, columns: str, options: dict[str, str], complaint: str
) -> None:
    with pytest.raises(Exception, match=complaint):
        sinks.save(sinks.spark.sql(f"SELECT {columns} FROM range(1)"), **options)


@pytest.mark.parametrize(
    ("mode", "complaint"),
    [("overwrite", "cannot be overwritten"), ("ignore", "Ignore"), ("errorifexists", "ErrorIfExists")],
)
def test_topics_are_appended_to_and_nothing_else(sinks: Sinks, mode: str, complaint: str) -> None:
    with pytest.raises(Exception, match=complaint):
        sinks.save(sinks.spark.range(1).selectExpr("'v' AS value"), mode, topic="t")


def run_foreach(sinks: Sinks, source: str, write: Any) -> None:
    told = sinks.queries.stream(source).writeStream.foreachBatch(write)
    query = told.option("checkpointLocation", sinks.checkpoint).trigger(availableNow=True).start()
    assert query.awaitTermination(120), "it does not come to an end"


def test_in_foreach_batch_writes_with_ids_count_once(sinks: Sinks, topics: Topics) -> None:
    source, plain, loud = topics.make(), topics.make(), topics.make()
    topics.write(source, ["a", "b"])

    def write(rows: DataFrame, _: int) -> None:
        sinks.save(rows.select("value"), topic=plain, sink__id="plain")
        sinks.save(rows.selectExpr("upper(CAST(value AS string)) AS value"), topic=loud, sink__id="loud")

    run_foreach(sinks, source, write)
    sinks.forget_commit()
    run_foreach(sinks, source, write)

    eventually(lambda: topics.values(plain) == ["a", "b"])
    eventually(lambda: topics.values(loud) == ["A", "B"])


def test_a_stream_that_counts_writes_its_state_in_step(sinks: Sinks, topics: Topics) -> None:
    """A batch that was decided is read to its end when it comes again: the counts hang on it."""
    source, target = topics.make(2), topics.make()
    topics.write(source, [Record(b"x", b"1"), Record(b"y", b"1")])

    def count() -> None:
        counted = sinks.queries.stream(source).groupBy("key").count()
        query = (
            counted.selectExpr("key", "CAST(count AS string) AS value")
            .writeStream.format("andiron")
            .options(**sinks.where, topic=target, checkpointLocation=sinks.checkpoint)
            .outputMode("complete")
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(120), "it does not come to an end"

    count()
    sinks.forget_commit()
    topics.write(source, [Record(b"x", b"1")], partition=1)
    count()

    def written() -> list[tuple[bytes | None, bytes | None]]:
        return sorted((each.key, each.value) for each in topics.read(target))

    eventually(lambda: written() == [(b"x", b"1"), (b"x", b"2"), (b"y", b"1"), (b"y", b"1")])


def test_a_checkpoint_that_is_older_than_the_output_is_refused(sinks: Sinks, topics: Topics) -> None:
    source, target = topics.make(), topics.make()
    for value in "ab":
        topics.write(source, [value])
        sinks.run(sinks.queries.stream(source), topic=target)
    for _ in range(2):
        last = sinks.forget_commit()
        for name in (f"{last}", f".{last}.crc"):
            os.remove(f"{sinks.checkpoint}/offsets/{name}")

    with pytest.raises(Exception, match="the checkpoint is older than the output"):
        sinks.run(sinks.queries.stream(source), topic=target)
