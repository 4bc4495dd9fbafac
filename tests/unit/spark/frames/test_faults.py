"""As what a field is read, so that a wrong value shows. What is found then: tests/spark/test_typed.py."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from andiron.spark.frames.faults import read_as

TEXT = StringType()


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (TEXT, TEXT),
        (IntegerType(), IntegerType()),
        (TimestampType(), TEXT),
        (TimestampNTZType(), TEXT),
        (DateType(), TEXT),
        (DecimalType(10, 2), DecimalType(38, 30)),
        (DecimalType(38, 0), DecimalType(38, 0)),
        (ArrayType(DateType()), ArrayType(TEXT)),
        (MapType(TEXT, DecimalType(4, 1)), MapType(TEXT, DecimalType(38, 35))),
        (StructType().add("at", TimestampType(), nullable=False), StructType().add("at", TEXT)),
    ],
)
def test_a_type_is_read_as_what_shows_its_faults(kind: DataType, read: DataType) -> None:
    assert read_as(kind) == read
