"""Batch reads, in Spark itself: ranges, SQL, and one DataFrame asked again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from peers.clients.base import Record
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


@pytest.fixture(params=["false", "true"])
def pushdown(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """Spark as it is by default, and where its user has filters handed down to sources in Python."""
    before = spark.conf.get(PUSHDOWN)
    spark.conf.set(PUSHDOWN, request.param)
    yield
    spark.conf.set(PUSHDOWN, before)


def test_a_range_of_offsets_is_read(queries: Queries, filled: str) -> None:
    rows = queries.read(
        filled, startingOffsets={filled: {"0": 8, "1": -2}}, endingOffsets={filled: {"0": -1, "1": 2}}
    )

    assert queries_of.values(rows) == ["08", "09", "10", "11"]


@pytest.mark.usefixtures("pushdown")
def test_one_dataframe_gives_every_action_its_own_rows(queries: Queries, filled: str) -> None:
    """Spark keeps the tasks of the first action on a DataFrame, whatever it filtered."""
    at = "timestamp'2023-11-14 22:13:%d Z'"
    rows = queries.read(filled)
    late = rows.where("offset >= 8")
    early = rows.where("offset < 3 and partition = 1")

    assert late.count() == 4
    assert rows.count() == 20
    assert queries_of.values(late.union(early)) == ["08", "09", "10", "11", "12", "18", "19"]
    assert queries_of.values(late.join(rows.where("partition = 0").select("offset"), "offset")) == [
        "08",
        "09",
        "18",
        "19",
    ]
    by_time = rows.where(f"timestamp > {at % 21} and timestamp <= {at % 23} and value != '12'")
    assert queries_of.values(by_time) == ["02", "03", "13"]
    assert rows.where("topic = 'another'").count() == 0
    assert rows.groupBy("partition").count().count() == 2


@pytest.mark.usefixtures("pushdown")
def test_the_latest_is_found_anew_by_every_action(queries: Queries, filled: str, topics: Topics) -> None:
    rows = queries.read(filled)
    kept = rows.where("partition = 0").cache()
    try:
        assert (rows.where("offset >= 8").count(), kept.count(), rows.count()) == (4, 10, 20)
        topics.write(filled, ["new"])
        topics.grow(filled, 3)
        topics.write(filled, ["newer"], partition=2)

        assert queries_of.values(rows.where("offset >= 9 or partition = 2")) == ["09", "19", "new", "newer"]
        assert (kept.count(), rows.count()) == (10, 22)
    finally:
        kept.unpersist()


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
