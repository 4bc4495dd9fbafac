"""Which columns are written, and what is said of those that cannot be."""

from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from andiron.spark.sink.decision import SinkError
from andiron.spark.sink.record_columns import HEADERS, record_columns

STRING, BINARY, INT = StringType(), BinaryType(), IntegerType()


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def headers_with(name: str, *, nullable: bool = True) -> DataType:
    return ArrayType(StructType([StructField(name, STRING, nullable), StructField("value", BINARY)]))


def test_value_is_enough_where_a_topic_is_given() -> None:
    columns = record_columns(schema(value=STRING), "out")
    records = columns.records(pa.record_batch({"value": ["a", None]}))

    assert records.to_pydict() == {"value": [b"a", None]}
    assert columns.counts(records) == {"out": 2}


def test_all_columns_are_found_wherever_they_are_and_others_are_passed_over() -> None:
    columns = record_columns(
        schema(
            timestamp=TimestampType(),
            partition=INT,
            topic=STRING,
            headers=HEADERS,
            key=BINARY,
            value=BINARY,
            more=DoubleType(),
        ),
        None,
    )
    records = columns.records(
        pa.RecordBatch.from_arrays(
            [
                pa.array([0], pa.timestamp("us", "UTC")),
                pa.array([3], pa.int32()),
                pa.array(["t"]),
                pa.array([[{"key": "h", "value": b"1"}]]),
                pa.array([b"k"]),
                pa.array([b"v"]),
                pa.array([1.5]),
            ],
            names=["timestamp", "partition", "topic", "headers", "key", "value", "more"],
        )
    )

    assert records.to_pydict() == {
        "value": [b"v"],
        "key": [b"k"],
        "headers": [[{"key": "h", "value": b"1"}]],
        "topic": ["t"],
        "partition": [3],
    }


def test_rows_are_counted_by_their_topics() -> None:
    columns = record_columns(schema(value=STRING, topic=STRING), None)
    rows = pa.record_batch({"value": ["1", "2", "3"], "topic": ["a", "b", "a"]})

    assert columns.counts(columns.records(rows)) == {"a": 2, "b": 1}


def test_a_topic_that_is_given_goes_before_the_column() -> None:
    columns = record_columns(schema(value=STRING, topic=STRING), "given")
    records = columns.records(pa.record_batch({"value": ["1"], "topic": pa.array([None], pa.string())}))

    assert records.schema.names == ["value"]


def test_a_row_without_topic_is_refused() -> None:
    columns = record_columns(schema(value=STRING, topic=STRING), None)

    with pytest.raises(SinkError, match="a row has no topic"):
        columns.records(pa.record_batch({"value": ["1", "2"], "topic": ["a", None]}))


@pytest.mark.parametrize(
    ("columns", "topic", "complaint"),
    [
        ({"key": STRING}, "t", "there is no column `value` to write, among key"),
        ({"value": STRING}, None, "say option `topic`, or have a column `topic`"),
        ({"value": INT}, "t", "column `value` is int, and must be string or binary"),
        ({"value": STRING, "key": ArrayType(STRING)}, "t", "column `key` is array<string>, and must be"),
        ({"value": STRING, "topic": INT}, None, "column `topic` is int, and must be string"),
        ({"value": STRING, "partition": LongType()}, "t", "column `partition` is bigint, and must be int"),
        (
            {"value": STRING, "headers": MapType(STRING, BINARY)},
            "t",
            "column `headers` is map<string,binary>",
        ),
        ({"value": STRING, "headers": headers_with("name")}, "t", "column `headers` is array<struct<name:"),
    ],
)
def test_what_cannot_be_written_is_said_before_it_is_read(
    columns: dict[str, DataType], topic: str | None, complaint: str
) -> None:
    with pytest.raises(SinkError, match=complaint):
        record_columns(schema(**columns), topic)


def test_whether_something_may_be_null_makes_no_difference() -> None:
    record_columns(schema(value=STRING, headers=headers_with("key", nullable=False)), "t")
