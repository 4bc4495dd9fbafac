"""Dead letters: records that could not be used, sent on with all that is needed to understand and mend them.

    orders-3 @ 1702   {"id": "a", "amount": "x"}                      the record, as it was written
        │
        ▼
    orders.dead       key, value    the same bytes
                      headers       its own, and andiron.reason      field 'amount': "x" is not a decimal(10,2)
                                              andiron.topic          orders
                                              andiron.partition      3
                                              andiron.offset         1702
                                              andiron.timestamp      2026-01-01T00:00:00.000Z
                                              andiron.reader         analytics

Numbers are written in decimal digits, so that any tool shows them. `reader` tells apart what several readers of
one topic refuse: a table that is checked against its log counts the dead letters of its own reader only.

Read next: typed.py, which makes them; tables/verification.py, which counts them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

REASON = "andiron.reason"
TOPIC = "andiron.topic"
PARTITION = "andiron.partition"
OFFSET = "andiron.offset"
TIMESTAMP = "andiron.timestamp"
READER = "andiron.reader"

HEADERS = "array<struct<key:string,value:binary>>"
TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"


class DeadLetters(NamedTuple):
    """Where the dead letters of a reader go."""

    topic: str
    reader: str = ""
    group: str = ""  # of the reader: shows how far it is, where it is another query than the one that asks


# ── writing ──────────────────────────────────────────────────────────────────────────


def as_dead_letters(refused: DataFrame, to: DeadLetters) -> DataFrame:
    """Records with a `reason`, as rows of the sink."""
    own = fn.col("headers") if "headers" in refused.columns else fn.lit(None).cast(HEADERS)
    return refused.select(
        "key",
        "value",
        fn.concat(fn.coalesce(own, fn.array().cast(HEADERS)), _origin(to.reader)).alias("headers"),
        fn.lit(to.topic).alias("topic"),
    )


def _origin(reader: str) -> Column:
    utc = fn.convert_timezone(None, fn.lit("UTC"), fn.col("timestamp").cast("timestamp_ntz"))
    told = [
        _header(REASON, fn.col("reason")),
        _header(TOPIC, fn.col("topic")),
        _header(PARTITION, fn.col("partition").cast("string")),
        _header(OFFSET, fn.col("offset").cast("string")),
        _header(TIMESTAMP, fn.date_format(utc, TIME_FORMAT)),
    ]
    if reader:
        told.append(_header(READER, fn.lit(reader)))
    return fn.array(*told).cast(HEADERS)


def _header(name: str, value: Column) -> Column:
    return fn.struct(fn.lit(name).alias("key"), value.cast("binary").alias("value"))


# ── reading them back ────────────────────────────────────────────────────────────────


def read_dead_letters(records: DataFrame) -> DataFrame:
    """A dead-letter topic with its headers as columns; `records` is the topic, read with includeHeaders."""
    if "headers" not in records.columns:
        raise ValueError('dead letters are read with .option("includeHeaders", True)')
    return records.select(
        _text_of(REASON).alias("reason"),
        _text_of(TOPIC).alias("origin_topic"),
        _text_of(PARTITION).try_cast("int").alias("origin_partition"),
        _text_of(OFFSET).try_cast("bigint").alias("origin_offset"),
        _text_of(TIMESTAMP).try_cast("timestamp").alias("origin_timestamp"),
        _text_of(READER).alias("reader"),
        "key",
        "value",
        "topic",
        "partition",
        "offset",
    )


def _text_of(name: str) -> Column:
    """The last header of this name: a record that was refused twice has those of both times."""
    named = fn.filter("headers", lambda header: header["key"] == name)
    return fn.try_element_at(named, fn.lit(-1))["value"].cast("string")


class Origins(NamedTuple):
    """Where dead letters come from, as columns; those that do not say are left out."""

    topics: Any  # pa.Array of strings
    partitions: np.ndarray[Any, np.dtype[np.int64]]
    offsets: np.ndarray[Any, np.dtype[np.int64]]


def origins(rows: pa.RecordBatch, reader: str) -> Origins:
    """Where the dead letters of a reader come from; `rows` as a ColumnReader with headers gives them."""
    headers = rows.column("headers")
    owner = pc.list_parent_indices(headers)
    names, values = pc.struct_field(pc.list_flatten(headers), "key"), pc.list_flatten(headers).field(1)
    columns = [
        _last(names, values, owner, name, rows.num_rows) for name in (TOPIC, PARTITION, OFFSET, READER)
    ]
    topics, partitions, offsets, readers = columns
    said = pc.and_(
        pc.and_(pc.is_valid(topics), pc.equal(pc.fill_null(readers, ""), reader)),
        pc.and_(_is_number(partitions), _is_number(offsets)),
    )
    return Origins(
        pc.filter(topics, said),
        pc.filter(partitions, said).cast(pa.int64()).to_numpy(zero_copy_only=False),
        pc.filter(offsets, said).cast(pa.int64()).to_numpy(zero_copy_only=False),
    )


def _last(names: Any, values: Any, owner: Any, name: str, rows: int) -> Any:
    """The last header of this name, of each row; null where there is none or where it is not text."""
    of_name = pc.equal(names, name)
    taken = np.full(rows, -1, dtype=np.int64)
    where = np.flatnonzero(of_name.to_numpy(zero_copy_only=False))
    taken[owner.to_numpy(zero_copy_only=False)[where]] = where  # later ones overwrite
    picked = values.take(pa.array(taken, mask=taken < 0))
    try:
        return picked.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_text(each) for each in picked.to_pylist()], pa.string())


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _is_number(texts: Any) -> Any:
    return pc.fill_null(pc.match_substring_regex(texts, r"^[0-9]{1,18}$"), False)
