"""The columns are those of Spark's Kafka source."""

from __future__ import annotations

import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from andiron.columns.schema import arrow_schema

SPARKS = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
}
HEADERS = ArrayType(StructType().add("key", StringType()).add("value", BinaryType()))


@pytest.mark.parametrize("headers", [False, True])
def test_spark_finds_its_own_schema(headers):
    told = StructType()
    for name, kind in (SPARKS | {"headers": HEADERS} if headers else SPARKS).items():
        told.add(name, kind)

    assert arrow_schema(headers).equals(to_arrow_schema(told, timezone="UTC"))
