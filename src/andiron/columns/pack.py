"""Encoding without a compiler: sizes, varints and cuts by numpy, the bytes put together by Arrow.

    length · attributes · timestamp · offset · key length │ key │ value length │ value │ headers
                                    numpy                 │  as │     numpy    │ it is │ joined before

Of these columns Arrow's `binary_join_element_wise` makes one stretch of bytes in which the records stand side
by side: the bodies of all batches, to be cut apart.

Where one batch ends and the next begins is found first: deltas count from a batch's first record, and
their varints are part of its size. So each batch is measured by itself, over as many rows as could at
most go into it.

The law: the bytes are those of records/builder.py, and those of native/encode.c, to the bit.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from andiron.columns.arrays import empty_blob, numbers
from andiron.columns.rows import HeaderRows, Indices, Longs, Rows, bounds_of
from andiron.model.errors import ErrorCode
from andiron.records.batch import HEADER_SIZE
from andiron.records.builder import NO_TIMESTAMP

Bytes = npt.NDArray[np.uint8]

RECORD_BYTES_MAX: Final = (1 << 31) - 128  # so that a batch of this record alone can tell its length
_STEPS: Final = np.array([1 << bits for bits in range(7, 64, 7)], np.uint64)  # at each, a byte more
_NONE = empty_blob()


class PackedRows(NamedTuple):
    """The records of a batch behind room for its header."""

    data: bytearray
    records: int
    base_timestamp: int
    max_timestamp: int


class _Blobs(NamedTuple):
    """A column of bytes to be written, the numbers that stand before each, and what both take."""

    before: Longs
    blobs: pa.Array
    sizes: Longs


def pack(rows: Rows, indices: Indices | None, batch_bytes: int) -> list[PackedRows]:
    """The rows, or those at `indices`, as the bodies of batches of at most `batch_bytes`."""
    count = len(rows.value) if indices is None else len(indices)
    if not count:
        return []
    times = _milliseconds(rows, indices, count)
    columns = [_blobs(column, indices, count) for column in (rows.key, rows.value)]
    columns.append(_header_blobs(rows.headers, indices, count))
    rest: Longs = np.sum([column.sizes for column in columns], axis=0)
    if rest.max() > RECORD_BYTES_MAX:
        raise ErrorCode.MESSAGE_TOO_LARGE.error(f"a record of more than {rest.max()} bytes")
    cuts = _cuts(rest, times, batch_bytes - HEADER_SIZE)
    firsts = np.repeat(cuts[:-1], np.diff(cuts))
    return _cut(_joined(times - times[firsts], np.arange(count) - firsts, rest, columns), cuts, times)


def _milliseconds(rows: Rows, indices: Indices | None, count: int) -> Longs:
    if rows.micros is None:
        return np.full(count, rows.now, np.int64)
    chosen = rows.micros if indices is None else rows.micros.take(numbers(indices))
    times: Longs = np.floor_divide(chosen.fill_null(0).to_numpy(), 1000)
    return np.where(chosen.is_null().to_numpy(zero_copy_only=False), rows.now, times)


def _cuts(rest: Longs, times: Longs, room: int) -> Longs:
    """Where batches begin, and after the last of them the end."""
    at_most = np.cumsum(rest + 4)  # length, attributes, timestamp and offset: a byte each
    cuts, done = [0], 0
    while cuts[-1] < rest.size:
        first = cuts[-1]
        beyond = max(first + 1, int(np.searchsorted(at_most, done + room, "right")))
        sizes = 1 + _varint_sizes(times[first:beyond] - times[first])
        sizes += _varint_sizes(np.arange(beyond - first)) + rest[first:beyond]
        fitting = int(np.searchsorted(np.cumsum(sizes + _varint_sizes(sizes)), room, "right"))
        cuts.append(first + max(fitting, 1))
        done = int(at_most[cuts[-1] - 1])
    return np.array(cuts, np.int64)


def _joined(timestamps: Longs, offsets: Longs, rest: Longs, columns: list[_Blobs]) -> pa.Array:
    """All records: what stands before the key, the key, what stands before the value …"""
    lengths = 1 + _varint_sizes(timestamps) + _varint_sizes(offsets) + rest
    key, value, headers = columns
    before_key = [_varints(lengths), _no_attributes(rest.size), _varints(timestamps), _varints(offsets)]
    pieces = [_strung([*before_key, _varints(key.before)]), key.blobs]
    pieces += [_strung([_varints(value.before)]), value.blobs]
    pieces += [_strung([_varints(headers.before)]), headers.blobs]
    return pc.binary_join_element_wise(*pieces, _NONE, null_handling="replace", null_replacement="")


def _cut(records: pa.Array, cuts: Longs, times: Longs) -> list[PackedRows]:
    _, offsets, data = records.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(records) + 1)[cuts].tolist()
    latest = np.maximum(np.maximum.reduceat(times, cuts[:-1]), NO_TIMESTAMP).tolist()
    view, packed = memoryview(data), []
    for n, first in enumerate(cuts[:-1].tolist()):
        body = bytearray(HEADER_SIZE)
        body += view[bounds[n] : bounds[n + 1]]
        packed.append(PackedRows(body, int(cuts[n + 1]) - first, int(times[first]), latest[n]))
    return packed


def _blobs(column: pa.Array | None, indices: Indices | None, rows: int) -> _Blobs:
    """Keys or values, each behind its length; -1 is the length of a null."""
    if column is None:
        return _Blobs(np.full(rows, -1), pa.nulls(rows, pa.large_binary()), np.ones(rows, np.int64))
    chosen = column if indices is None else column.take(numbers(indices))
    chosen = chosen.cast(pa.large_binary())  # what they are joined into may be longer than 32 bits can tell
    lengths = pc.binary_length(chosen).fill_null(-1).to_numpy()
    return _Blobs(lengths, chosen, _varint_sizes(lengths) + np.maximum(lengths, 0))


def _header_blobs(headers: HeaderRows | None, indices: Indices | None, rows: int) -> _Blobs:
    """The headers of each row, side by side behind their number."""
    if headers is None:
        nothing = pa.nulls(rows, pa.large_binary())
        return _Blobs(np.zeros(rows, np.int64), nothing, np.ones(rows, np.int64))
    lists = headers.lists if indices is None else headers.lists.take(numbers(indices))
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy().astype(np.int64)
    ends = np.cumsum(lengths)
    each = _joined_headers(headers, _header_places(headers, indices, lengths, ends))
    _, offsets, data = each.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(each) + 1)[np.concatenate(([0], ends))]
    whole = pa.Array.from_buffers(pa.large_binary(), rows, [None, pa.py_buffer(bounds), data])
    return _Blobs(lengths, whole, _varint_sizes(lengths) + np.diff(bounds))


def _header_places(headers: HeaderRows, indices: Indices | None, lengths: Longs, ends: Longs) -> Longs:
    """Where the headers of the rows stand, one after the other."""
    begin = bounds_of(headers.lists)[:-1]
    begin = begin if indices is None else begin[indices]
    return np.repeat(begin - ends + lengths, lengths) + np.arange(ends[-1])


def _joined_headers(headers: HeaderRows, places: Longs) -> pa.Array:
    key, value = (_blobs(column, places, places.size) for column in (headers.keys, headers.values))
    if key.blobs.null_count:
        raise ErrorCode.INVALID_RECORD.error("a header without a key")
    pieces = (_strung([_varints(key.before)]), key.blobs, _strung([_varints(value.before)]), value.blobs)
    return pc.binary_join_element_wise(*pieces, _NONE, null_handling="replace", null_replacement="")


def _zigzag(numbers: Longs) -> npt.NDArray[np.uint64]:
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _varint_sizes(numbers: Longs) -> Longs:
    return np.searchsorted(_STEPS, _zigzag(numbers), "right") + 1


def _varints(numbers: Longs) -> tuple[Bytes, npt.NDArray[np.bool_]]:
    """The varint of each number as a row of bytes, and which of the row's bytes it has."""
    z, sizes = _zigzag(numbers), _varint_sizes(numbers)
    column = np.arange(int(sizes.max(initial=1)))
    matrix = (z[:, None] >> (7 * column).astype(np.uint64)).astype(np.uint8)
    matrix &= np.uint8(0x7F)
    matrix[column < sizes[:, None] - 1] |= np.uint8(0x80)
    return matrix, column < sizes[:, None]


def _no_attributes(rows: int) -> tuple[Bytes, npt.NDArray[np.bool_]]:
    return np.zeros((rows, 1), np.uint8), np.ones((rows, 1), np.bool_)


def _strung(varints: list[tuple[Bytes, npt.NDArray[np.bool_]]]) -> pa.Array:
    """The numbers of each row one behind the other, as a column of bytes."""
    matrix, there = (np.hstack(side) for side in zip(*varints, strict=True))
    offsets = np.zeros(len(matrix) + 1, np.int64)
    np.cumsum(there.sum(axis=1), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(matrix[there])]
    return pa.Array.from_buffers(pa.large_binary(), len(matrix), buffers)
