"""The same rows written by Spark's own connector and by ours: the same records, or both refuse.

Continues tests/spark/test_parity.py. Each connector writes to a topic of its own; what is in it then is read with
another client and compared. A scenario is a row of `WRITES`: the rows, where TOPIC stands for that topic's
name, their columns, the options, and what is in the topic in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from peers.clients.base import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from peers.connectors import Both
    from peers.topics import Topics

TOPIC = "TOPIC"
TO_TOPIC = {"topic": TOPIC}
HEADERS = "headers array<struct<key: string, value: binary>>"
NO_PATIENCE = {  # of the one, and of the other
    "kafka.max.block.ms": "1500",
    "kafka.delivery.timeout.ms": "3000",
    "kafka.request.timeout.ms": "1000",
    "kafka.default.api.timeout.ms": "1500",
}
PARTITIONS = 3


@dataclass(frozen=True)
class Write:
    """One write and the values it leaves, sorted; None where it is refused."""

    name: str
    columns: str
    rows: list[tuple[Any, ...]]
    options: dict[str, str] = field(default_factory=lambda: TO_TOPIC)
    values: list[str] | None = None
    says: str = ""  # a word of our refusal


WRITES = [
    Write("values alone", "value string", [("a",), ("b",)], values=["a", "b"]),
    Write("bytes", "value binary", [(b"a",), (b"",)], values=["", "a"]),
    Write(
        "keys",
        "key string, value string",
        [(f"k{n}", f"{n}") for n in range(9)],
        values=[*map(str, range(9))],
    ),
    Write("null keys and values", "key string, value string", [("k", None), (None, "a")], values=["", "a"]),
    Write("a topic in each row", "topic string, value string", [(TOPIC, "a")], {}, ["a"]),
    Write("the option before the column", "topic string, value string", [("other", "a")], values=["a"]),
    Write(
        "partitions",
        "key string, partition int, value string",
        [("k", 2, "a"), ("k", 0, "b"), ("k", 2, "c")],
        values=["a", "b", "c"],
    ),
    Write(
        "no partition for some",
        "key string, partition int, value string",
        [("k1", None, "a"), ("k1", 1, "b")],
        values=["a", "b"],
    ),
    Write(
        "headers",
        f"key string, value string, {HEADERS}",
        [("k", "a", [("h", b"1"), ("h", None)]), ("k", "b", None), ("k", "c", [])],
        TO_TOPIC | {"includeHeaders": "true"},
        ["a", "b", "c"],
    ),
    Write(
        "headers that were not asked for",
        f"key string, value string, {HEADERS}",
        [("k", "a", [("h", b"1")])],
        values=["a"],
    ),
    Write("columns of nobody", "value string, price double, note string", [("a", 1.0, "x")], values=["a"]),
    Write("nothing at all", "value string", [], values=[]),
    Write(
        "compressed",
        "value string",
        [("a" * 1000,)],
        TO_TOPIC | {"kafka.compression.type": "lz4"},
        ["a" * 1000],
    ),
    # refused
    Write("no topic", "value string", [("a",)], {}, says="topic"),
    Write(
        "a row without a topic", "topic string, value string", [(TOPIC, "a"), (None, "b")], {}, says="topic"
    ),
    Write("no value", "key string", [("a",)], says="value"),
    Write("a value that is a number", "value int", [(1,)], says="value"),
    Write("a key that is a number", "key int, value string", [(1, "a")], says="key"),
    Write("a topic that is a number", "topic int, value string", [(1, "a")], {}, says="topic"),
    Write("a partition that is a text", "partition string, value string", [("0", "a")], says="partition"),
    Write("headers that are texts", "value string, headers array<string>", [("a", ["h"])], says="headers"),
    Write("a partition that is not there", "partition int, value string", [(9, "a")], TO_TOPIC | NO_PATIENCE),
    Write(
        "a serializer",
        "value string",
        [("a",)],
        TO_TOPIC | {"kafka.key.serializer": "x"},
        says="key.serializer",
    ),
    Write(
        "no brokers", "value string", [("a",)], TO_TOPIC | {"kafka.bootstrap.servers": ""}, says="bootstrap"
    ),
]
NAMES = [each.name.replace(" ", "-") for each in WRITES]


@pytest.mark.parametrize("write", WRITES, ids=NAMES)
def test_a_write_leaves_the_same_records(
    write: Write, both: Both, topics: Topics, spark: SparkSession
) -> None:
    targets = {name: topics.make(PARTITIONS) for name in ("kafka", "andiron")}

    def rows(topic: str) -> DataFrame:
        real = [tuple(topic if value == TOPIC else value for value in row) for row in write.rows]
        return spark.createDataFrame(real, write.columns).coalesce(1)

    failure = both.write(rows, targets, write.options)

    if write.values is None:
        assert failure is not None
        assert write.says in failure, failure.says
        assert contents(topics, targets["andiron"]) == []  # the other may have written some rows
    else:
        assert failure is None, failure.says
        assert topics.values(targets["andiron"]) == write.values
        assert contents(topics, targets["andiron"]) == contents(topics, targets["kafka"])


@pytest.mark.parametrize(
    ("mode", "stock", "ours"),
    [
        ("append", True, True),
        ("overwrite", False, False),
        ("ignore", False, False),
        ("error", True, False),  # its other name, errorifexists, is not known to Spark Connect's client
    ],
)
def test_a_topic_is_appended_to_and_not_replaced(
    mode: str, stock: bool, ours: bool, both: Both, topics: Topics, spark: SparkSession
) -> None:
    """They differ in the mode that counts where none is said: Spark takes it of its own sources alone."""
    for name, writes in (("kafka", stock), ("andiron", ours)):
        topic = topics.make(1)
        failure = both.save(name, spark.createDataFrame([("a",)], "value string"), {"topic": topic}, mode)

        assert (failure is None) == writes, failure
        assert topics.values(topic) == (["a"] if writes else [])


def test_a_stream_leaves_the_same_records(both: Both, topics: Topics, spark: SparkSession) -> None:
    source = topics.make(2)
    for partition in range(2):
        topics.write(source, [Record(b"%d" % n, b"%d %d" % (partition, n)) for n in range(20)], partition)
    targets = {name: topics.make(PARTITIONS) for name in ("kafka", "andiron")}

    failure = both.pour(lambda topic: stream_of(both, source), targets, TO_TOPIC)

    assert failure is None, failure.says
    assert len(topics.values(targets["andiron"])) == 40
    assert contents(topics, targets["andiron"]) == contents(topics, targets["kafka"])


def test_a_stream_with_a_row_without_a_topic_fails(both: Both, topics: Topics) -> None:
    source = topics.make(1)
    topics.write(source, ["a"])
    targets = {name: topics.make(1) for name in ("kafka", "andiron")}

    failure = both.pour(
        lambda topic: stream_of(both, source).selectExpr("value", "cast(NULL AS string) AS topic"),
        targets,
        {},
    )

    assert failure is not None
    assert "topic" in failure


def stream_of(both: Both, topic: str) -> DataFrame:
    """Keys and values of a topic, in a few batches, read by Spark's own connector."""
    options = {**both.common, "subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "15"}
    return both.spark.readStream.format("kafka").options(**options).load().select("key", "value")


def contents(topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    """Key, value, headers and partition of every record; without a key any partition will do."""
    found = [
        (record.key, record.value, record.headers, partition if record.key else None)
        for partition in range(len(topics.client.describe_topic(topic)))
        for record in topics.read(topic, partition)
    ]
    return sorted(found, key=repr)
