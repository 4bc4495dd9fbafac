"""The compiled half of each pair, where it was compiled: native/ behind the same signatures as the numpy half.

    walk         decode.c     twin of walk.py
    pack         encode.c     twin of pack.py
    partitions   murmur2.c    twin of partition.py

Each is None where the extension is not there: no compiler was at hand when Andiron was installed, or
ANDIRON_NATIVE=0 is set. Nothing is lost then but time: tests/properties/test_columns.py holds the two
halves to the same answers.

Between Python and C go buffers alone: of batches and arrays on the way in; on the way out bytearrays, which
are sent as they are, or memory of Arrow's pool, of which slices become arrays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from andiron.columns import schema
from andiron.columns.bodies import Bodies
from andiron.columns.cursor import malformed
from andiron.columns.pack import PackedRows
from andiron.columns.rows import Indices, Rows
from andiron.columns.walk import Columns, Headers
from andiron.model.errors import ErrorCode

try:
    from andiron.columns import _native
except ImportError:
    _there = False
else:
    _there = _native.EDITION == 2  # another was built from sources that have changed since


def _walk(bodies: Bodies, start: int, end: int, headers: bool) -> Columns:
    asked = (*bodies, start, end, headers)
    try:
        counts = _native.measure(*asked)
        arena = pa.allocate_buffer(counts[0])
        key, value, offset, timestamp, kind, lists = _native.walk(*asked, counts, arena)
    except ValueError as error:
        raise malformed(str(error)) from error
    rows = counts[1]
    return Columns(
        _blobs(arena, key),
        _blobs(arena, value),
        _numbers(pa.int64(), rows, arena.slice(offset, 8 * rows)),
        _numbers(schema.TIMESTAMP, rows, arena.slice(timestamp, 8 * rows)),
        _numbers(pa.int32(), rows, arena.slice(kind, 4 * rows)),
        None if lists is None else _headers(arena, rows, lists),
    )


def _pack(rows: Rows, indices: Indices | None, batch_bytes: int) -> list[PackedRows]:
    headers = rows.headers
    try:
        batches = _native.pack(
            None if rows.key is None else _column(rows.key),
            _column(rows.value),
            None if headers is None else _lists(headers.lists, len(headers.keys)),
            None if headers is None else _column(headers.keys),
            None if headers is None else _column(headers.values),
            None if rows.micros is None else _column(rows.micros),
            None if indices is None else np.ascontiguousarray(indices, np.int64),
            rows.now,
            batch_bytes,
        )
    except OverflowError as error:
        raise ErrorCode.MESSAGE_TOO_LARGE.error(str(error)) from error
    except ValueError as error:
        raise ErrorCode.INVALID_RECORD.error(str(error)) from error
    return [PackedRows(*batch) for batch in batches]


def _partitions(keys: pa.Array, count: int) -> npt.NDArray[np.int32]:
    return np.frombuffer(_native.partitions(_column(keys), count), np.int32)


def _column(array: pa.Array) -> _native.Column:
    """Where a column of binary, large_binary or int64 lies."""
    valid, *buffers = array.buffers()
    validity = valid if array.null_count else None
    if len(buffers) == 1:
        return validity, buffers[0], None, 8, array.offset, len(array), 0
    offsets, data = buffers
    width = 8 if pa.types.is_large_binary(array.type) else 4
    return validity, offsets, data, width, array.offset, len(array), 0 if data is None else data.size


def _lists(array: pa.Array, limit: int) -> _native.Column:
    """Where a column of lists lies, and how many there are of what they are lists of."""
    valid, offsets = array.buffers()[:2]
    width = 8 if pa.types.is_large_list(array.type) else 4
    return valid if array.null_count else None, offsets, None, width, array.offset, len(array), limit


def _blobs(arena: pa.Buffer, made: _native.Blobs) -> pa.Array:
    rows, nulls, valid, offsets, data, size = made
    validity = arena.slice(valid, (rows + 7) // 8) if nulls else None
    buffers = [validity, arena.slice(offsets, 4 * rows + 4), arena.slice(data, size)]
    return pa.Array.from_buffers(pa.binary(), rows, buffers, nulls)


def _headers(arena: pa.Buffer, rows: int, lists: _native.Lists) -> Headers:
    nulls, valid, offsets, keys, values = lists
    validity = arena.slice(valid, (rows + 7) // 8) if nulls else None
    return Headers(
        validity, nulls, arena.slice(offsets, 4 * rows + 4), _blobs(arena, keys), _blobs(arena, values)
    )


def _numbers(kind: pa.DataType, rows: int, buffer: pa.Buffer) -> pa.Array:
    return pa.Array.from_buffers(kind, rows, [None, buffer], 0)


walk: Callable[[Bodies, int, int, bool], Columns] | None = _walk if _there else None
pack: Callable[[Rows, Indices | None, int], list[PackedRows]] | None = _pack if _there else None
partitions: Callable[[pa.Array, int], npt.NDArray[np.int32]] | None = _partitions if _there else None
