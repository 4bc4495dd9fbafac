"""Batch reads, in Spark itself: ranges, SQL, and filters that come down to the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from peers.clients.base import Record
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from peers.queries import Queries

queries_of = pytest.importorskip("peers.queries", reason="pyspark is not installed")

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
SECOND = 1000
BEGINNING = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC


@pytest.fixture
def queries(spark: SparkSession, node: Node, checkpoint: str) -> Queries:
    made: Queries = queries_of.Queries(spark, node.bootstrap, checkpoint)
    return made


@pytest.fixture
def filled(topics: Topics) -> str:
    """Two partitions of ten records, a second apart."""
    topic = topics.make(2)
    for partition in range(2):
        records = [Record(None, b"%d%d" % (partition, i), (), BEGINNING + i * SECOND) for i in range(10)]
        topics.write(topic, records, partition=partition)
    return topic


@pytest.fixture(params=["true", "false"])
def pushdown(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[bool]:
    """Whether filters come down to the log; the rows must not depend on it."""
    before = spark.conf.get(PUSHDOWN)
    spark.conf.set(PUSHDOWN, request.param)
    yield request.param == "true"
    spark.conf.set(PUSHDOWN, before)


def tasks(rows: DataFrame) -> int:
    return rows.rdd.getNumPartitions()


def test_a_range_of_offsets_is_read(queries: Queries, filled: str) -> None:
    rows = queries.read(
        filled, startingOffsets={filled: {"0": 8, "1": -2}}, endingOffsets={filled: {"0": -1, "1": 2}}
    )

    assert queries_of.values(rows) == ["08", "09", "10", "11"]


def test_filters_give_the_same_rows_wherever_they_are_applied(
    queries: Queries, filled: str, pushdown: bool
) -> None:
    at = "timestamp'2023-11-14 22:13:%d Z'"
    rows = queries.read(filled)
    by_offset = rows.where("offset >= 8 and partition = 1")
    by_time = rows.where(f"timestamp > {at % 21} and timestamp <= {at % 23} and value != '12'")
    by_set = rows.where("partition in (1, 7) and offset in (3, 9)")
    nothing = rows.where("topic = 'another'")

    assert queries_of.values(by_offset) == ["18", "19"]
    assert queries_of.values(by_time) == ["02", "03", "13"]
    assert queries_of.values(by_set) == ["13", "19"]
    assert queries_of.values(nothing) == []
    assert (tasks(by_offset), tasks(by_set)) == ((1, 1) if pushdown else (2, 2))


def test_a_view_in_sql_reads_it(queries: Queries, filled: str, node: Node) -> None:
    queries.spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW records USING andiron "
        f"OPTIONS (`kafka.bootstrap.servers` '{node.bootstrap}', subscribe '{filled}')"
    )

    found = queries.spark.sql(
        "SELECT partition, count(*), max(offset) FROM records GROUP BY partition ORDER BY 1"
    )
    assert [tuple(row) for row in found.collect()] == [(0, 10, 9), (1, 10, 9)]


def test_an_empty_topic_has_no_rows(queries: Queries, topics: Topics) -> None:
    assert queries.read(topics.make()).count() == 0
