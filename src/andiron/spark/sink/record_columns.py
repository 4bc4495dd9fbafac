"""Which columns of a DataFrame become records, and whether they can.

    value       string or binary        must be there
    key         string or binary
    headers     array<struct<key: string, value: binary>>
    topic       string                  must be there, without nulls, unless the option `topic` names one for all
    partition   int                     where it is null, the key decides, or chance

These are the columns of Spark's own Kafka sink, and others are passed over as they are there: a `timestamp` that
was read is not written.

Types are checked when a query is planned, before anything is read. Strings become bytes without being copied.

Read next: client/blocking/column_producer.py, which takes what comes out of here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from andiron.spark.sink.decision import SinkError

HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
BYTES: tuple[DataType, ...] = (StringType(), BinaryType())
TYPES: dict[str, tuple[DataType, ...]] = {
    "value": BYTES,
    "key": BYTES,
    "headers": (HEADERS,),
    "topic": (StringType(),),
    "partition": (IntegerType(),),
}


class RecordColumns(NamedTuple):
    """Where in a row to find what, by position; and the topic for all rows, if one is given."""

    places: tuple[tuple[str, int], ...]
    topic: str | None

    def records(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns that are written, as they are written."""
        found = {name: rows.column(place) for name, place in self.places}
        if self.topic is None and found["topic"].null_count:
            raise SinkError(
                "a row has no topic: the column `topic` is null in it; say option `topic` to write all rows to one"
            )
        names = [*found]
        return pa.RecordBatch.from_arrays([_as_bytes(name, found[name]) for name in names], names=names)

    def counts(self, records: pa.RecordBatch) -> dict[str, int]:
        """How many rows go to each topic."""
        if self.topic is not None:
            return {self.topic: records.num_rows}
        counted = pc.value_counts(records.column("topic"))
        return {each["values"].as_py(): each["counts"].as_py() for each in counted}


def record_columns(schema: StructType, topic: str | None) -> RecordColumns:
    """What is written of rows of this schema; SinkError says why they cannot be."""
    places = []
    for name, wanted in TYPES.items():
        place = _place(schema, name)
        if name == "topic" and topic is not None:
            continue
        if place is not None:
            _check_type(schema.fields[place], wanted)
            places.append((name, place))
        elif name == "value":
            raise SinkError(f"there is no column `value` to write, among {', '.join(schema.names) or 'none'}")
        elif name == "topic":
            raise SinkError("it is not said where to write: say option `topic`, or have a column `topic`")
    return RecordColumns(tuple(places), topic)


def _place(schema: StructType, name: str) -> int | None:
    return schema.names.index(name) if name in schema.names else None


def _check_type(field: StructField, wanted: Sequence[DataType]) -> None:
    if not any(_is(field.dataType, each) for each in wanted):
        kinds = " or ".join(each.simpleString() for each in wanted)
        raise SinkError(
            f"column `{field.name}` is {field.dataType.simpleString()}, and must be {kinds}: cast it, or make JSON "
            "of it by to_json"
        )


def _is(given: DataType, wanted: DataType) -> bool:
    """Whether it is the type, nulls and collations aside."""
    if isinstance(wanted, ArrayType):
        return isinstance(given, ArrayType) and _is(given.elementType, wanted.elementType)
    if isinstance(wanted, StructType):
        return (
            isinstance(given, StructType)
            and given.names == wanted.names
            and all(_is(a.dataType, b.dataType) for a, b in zip(given.fields, wanted.fields, strict=True))
        )
    return isinstance(given, type(wanted))


def _as_bytes(name: str, column: Any) -> Any:
    return column.cast(pa.binary()) if name in ("key", "value") else column
