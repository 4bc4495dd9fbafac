"""Streams from the log, in Spark itself: starts, restarts, limits, and what changes meanwhile."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from peers.clients.base import Record
from peers.committed import committed_offsets
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.queries import Queries

queries_of = pytest.importorskip("peers.queries", reason="pyspark is not installed")


@pytest.fixture
def queries(spark: SparkSession, node: Node, checkpoint: str) -> Queries:
    made: Queries = queries_of.Queries(spark, node.bootstrap, checkpoint)
    return made


def forget_commit(queries: Queries, batch: int) -> None:
    """As if Spark had been killed before it wrote down that a batch is done."""
    for name in (f"{batch}", f".{batch}.crc"):
        os.remove(f"{queries.checkpoint}/commits/{name}")


def test_everything_is_read_once_and_then_what_is_new(queries: Queries, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, ["a", "b", "c"])
    topics.write(topic, ["x"], partition=1)

    assert queries.catch_up(topic) == ["a", "b", "c", "x"]
    assert queries.offsets(0) == {topic: {"0": 3, "1": 1}}
    topics.write(topic, ["d"])
    assert queries.catch_up(topic) == ["d"]
    assert queries.catch_up(topic) == []


def test_where_latest_was_is_not_forgotten_by_a_crash(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    topics.write(topic, ["before"])
    assert queries.catch_up(topic, startingOffsets="latest") == []
    assert queries.offsets(0) == {topic: {"0": 1}}

    forget_commit(queries, 0)
    topics.write(topic, ["after"])
    assert queries.catch_up(topic, startingOffsets="latest") == ["after"]


def test_a_first_batch_that_is_run_again_begins_where_it_began(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    topics.write(topic, ["a", "b"])
    assert queries.catch_up(topic, startingOffsets=json.dumps({topic: {"0": 1}})) == ["b"]

    forget_commit(queries, 0)
    topics.write(topic, ["c"])
    assert queries.catch_up(topic, startingOffsets="latest") == ["b", "c"]


def test_a_batch_that_is_run_again_is_the_same(queries: Queries, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, ["a", "b"])
    queries.catch_up(topic)

    forget_commit(queries, 0)
    topics.grow(topic, 3)
    topics.write(topic, ["c"])
    topics.write(topic, ["d"], partition=2)
    assert queries.catch_up(topic) == ["a", "b", "c", "d"]
    assert queries.batches[-2:] == [["a", "b"], ["c", "d"]]


def test_limits_are_kept_batch_by_batch(queries: Queries, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, [f"a{i}" for i in range(9)])
    topics.write(topic, [f"b{i}" for i in range(3)], partition=1)

    assert len(queries.catch_up(topic, maxOffsetsPerTrigger=4)) == 12
    assert [len(batch) for batch in queries.batches] == [4, 4, 4]


def test_bytes_are_a_limit_too(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    for _ in range(4):
        topics.write(topic, ["x" * 1000] * 5)

    assert len(queries.catch_up(topic, maxBytesPerTrigger=10_500)) == 20
    assert [len(batch) for batch in queries.batches] == [10, 10]


def test_available_now_waits_for_no_minimum(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    topics.write(topic, ["a"])

    assert queries.catch_up(topic, minOffsetsPerTrigger=100, maxTriggerDelay="1h") == ["a"]


def test_skewed_partitions_are_read_by_many_tasks(queries: Queries, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, [f"{i}" for i in range(100)])
    topics.write(topic, ["x"], partition=1)

    rows = queries.read(topic, minPartitions=6)
    assert sorted(len(each) for each in rows.rdd.glom().collect()) == [1, 20, 20, 20, 20, 20]
    assert len(queries.catch_up(topic, minPartitions=6)) == 101


def test_partitions_and_topics_that_appear_later_are_read_from_their_beginning(
    queries: Queries, topics: Topics
) -> None:
    first = topics.make(1, f"{topics.name}-first")
    topics.write(first, ["a"])
    pattern = {"subscribePattern": f"{topics.name}-.*"}
    query = queries.start(queries.stream(**pattern))
    try:
        query.processAllAvailable()
        topics.grow(first, 2)
        second = topics.make(1, f"{topics.name}-second")
        topics.write(first, ["b"], partition=1)
        topics.write(second, ["c"])
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(value for batch in queries.batches for value in batch) == ["a", "b", "c"]


def test_headers_come_as_a_column(queries: Queries, topics: Topics) -> None:
    topic = topics.make()
    topics.write(topic, [Record(b"k", b"v", (("a", b"1"), ("a", None)), timestamp=1_700_000_000_123)])

    (row,) = queries.read(topic, includeHeaders=True).collect()
    assert (bytes(row.key), row.topic, row.partition, row.offset, row.timestampType) == (b"k", topic, 0, 0, 0)
    assert row.timestamp.isoformat(timespec="milliseconds").endswith(".123")
    assert [(each.key, each.value and bytes(each.value)) for each in row.headers] == [
        ("a", b"1"),
        ("a", None),
    ]


def test_aborted_records_are_not_read_and_open_ones_are_waited_for(queries: Queries, topics: Topics) -> None:
    committed = {"kafka.isolation.level": "read_committed"}
    topic = topics.make()
    topics.write_transaction(topic, ["a", "b"])
    topics.write_transaction(topic, ["c", "d"], commit=False)
    topics.write(topic, ["e"])
    held = topics.begin_transaction(topic, ["f"])
    topics.write(topic, ["g"])

    assert queries.catch_up(topic, **committed) == ["a", "b", "e"]
    held.commit_transaction(30)
    assert queries.catch_up(topic, **committed) == ["f", "g"]


def test_progress_is_a_groups_lag(queries: Queries, topics: Topics, node: Node) -> None:
    topic, group = topics.make(), f"{topics.name}-group"
    topics.write(topic, ["a", "b", "c"])
    queries.catch_up(topic, **{"group.id": group})

    assert committed_offsets(node.bootstrap, group, topic) == {0: 3}
