"""The rows to be written, whatever Arrow types they came in, brought to the few that encoders know.

    key, value   binary or string of any kind (large, view, fixed size, dictionary) → binary or large_binary
    headers      lists of a struct of two such columns, key and value               → those three
    timestamp    a timestamp of any unit, null for "now"                            → microseconds as int64

What Spark and most others hand over is of these types already, or text, which is bytes by another name: then
nothing is copied, and nothing is looked at row by row. That matters to a producer, which encodes the rows of one
table partition by partition. Slices are taken as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from andiron.model.errors import ErrorCode

Longs = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32] | npt.NDArray[np.int64]

_VIEWS = (pa.string_view(), pa.binary_view())
_BLOBS = (pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.null(), *_VIEWS)


class HeaderRows(NamedTuple):
    """Lists of headers, and the keys and values they are lists of."""

    lists: pa.Array
    keys: pa.Array
    values: pa.Array


class Rows(NamedTuple):
    """Columns of one length, ready to be encoded."""

    key: pa.Array | None
    value: pa.Array
    headers: HeaderRows | None
    micros: pa.Array | None
    now: int  # milliseconds


def rows_of(batch: pa.RecordBatch, now: int) -> Rows:
    """The columns of `batch` that make records: `value`, and where they are there the others."""
    names = batch.schema.names
    if "value" not in names:
        raise ErrorCode.INVALID_RECORD.error(f"there is no column named value among {names}")
    return Rows(
        blobs("key", batch.column("key")) if "key" in names else None,
        blobs("value", batch.column("value")),
        _headers(batch.column("headers")) if "headers" in names else None,
        _micros(batch.column("timestamp")) if "timestamp" in names else None,
        now,
    )


def blobs(name: str, column: pa.Array) -> pa.Array:
    """A column of keys or values as binary or large_binary, whatever kind of bytes or text it is."""
    kind = column.type
    if kind in (pa.binary(), pa.large_binary()):
        return column
    if pa.types.is_dictionary(kind):
        return blobs(name, column.dictionary_decode())
    if kind not in _BLOBS and not pa.types.is_fixed_size_binary(kind):
        raise ErrorCode.INVALID_RECORD.error(f"column {name} is {kind}, neither binary nor string")
    if kind == pa.string_view():
        column = column.cast(pa.large_string())
    return column.cast(pa.binary() if kind == pa.string() else pa.large_binary())


def bounds_of(column: pa.Array) -> Longs:
    """Where the blobs, or the lists, of a column begin in what they lie in; behind the last, where it ends."""
    wide = pa.types.is_large_binary(column.type) or pa.types.is_large_list(column.type)
    buffer = column.buffers()[1]
    if not len(column):
        return np.zeros(1, np.int64)
    offsets = np.frombuffer(buffer, np.int64 if wide else np.int32)
    return offsets[column.offset : column.offset + len(column) + 1].astype(np.int64, copy=False)


def _headers(column: pa.Array) -> HeaderRows | None:
    kind = column.type
    if pa.types.is_null(kind):
        return None
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)) or not _is_header(kind.value_type):
        raise ErrorCode.INVALID_RECORD.error(f"column headers is {kind}, no list of key and value")
    structs = column.values
    keys, values = structs.flatten() if structs.null_count else (structs.field(0), structs.field(1))
    return HeaderRows(column, blobs("headers.key", keys), blobs("headers.value", values))


def _is_header(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind)) and kind.num_fields == 2


def _micros(column: pa.Array) -> pa.Array | None:
    if pa.types.is_null(column.type):
        return None
    if not pa.types.is_timestamp(column.type):
        raise ErrorCode.INVALID_RECORD.error(f"column timestamp is {column.type}")
    return column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
