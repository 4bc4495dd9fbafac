"""The columns of a read, in Spark's types: those of Spark's own Kafka source.

    key BINARY · value BINARY · topic STRING · partition INT · offset BIGINT · timestamp TIMESTAMP
    timestampType INT [· headers ARRAY<STRUCT<key STRING, value BINARY>>]

The same columns in Arrow's types are andiron/columns/schema.py; Spark holds every batch against the Arrow
form of these.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from andiron.model.settings import SettingError


def spark_schema(headers: bool) -> StructType:
    """The columns, with or without the records' headers."""
    columns = (
        StructType()
        .add("key", BinaryType())
        .add("value", BinaryType())
        .add("topic", StringType())
        .add("partition", IntegerType())
        .add("offset", LongType())
        .add("timestamp", TimestampType())
        .add("timestampType", IntegerType())
    )
    header = StructType().add("key", StringType()).add("value", BinaryType())
    return columns.add("headers", ArrayType(header)) if headers else columns


def check_schema(given: StructType, headers: bool) -> None:
    """Refuse a schema that a query brings itself: the columns are what they are."""
    ours = spark_schema(headers)
    if given.simpleString() != ours.simpleString():
        raise SettingError("schema", f"cannot be chosen: this source has {ours.simpleString()[7:-1]}")
