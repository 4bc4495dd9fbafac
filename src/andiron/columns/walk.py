"""Decoding without a compiler: the lengths in a loop, all else by numpy and Arrow.

    one by one    where each record begins: a length says where the next one stands
    at once       timestamps of all records, then offsets of all, key lengths of all …
    in Arrow      keys and values gathered: an array whose every second element is a key, of which
                  the others are left out by `take`

The law: it takes and refuses exactly what native/decode.c does. A position is compared with its record's
end before anything is read there, so numpy is never asked for a byte that is not the record's.

Read next: native.py, its twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from andiron.columns import schema
from andiron.columns.arrays import numbers
from andiron.columns.bodies import (
    BASE_OFFSET,
    COLUMNS,
    COUNT,
    INT32_MAX,
    INT64_MAX,
    LAST_DELTA,
    RECORD_BYTES_MIN,
    SOURCE,
    START,
    STOP,
    TIMESTAMP,
    TIMESTAMP_TYPE,
    Bodies,
)
from andiron.columns.cursor import Blobs, Cursor, FoundHeaders, Longs, malformed
from andiron.model.errors import ProtocolError
from andiron.records.batch import Bytes
from andiron.records.varint import SMALL, read_varint

MILLIS_MAX = INT64_MAX // 1000  # that can be told in microseconds


class Headers(NamedTuple):
    """The headers of all rows one after the other, and the buffers of the list that says which are whose."""

    valid: pa.Buffer | None  # a row without headers is null, as in Spark
    nulls: int
    offsets: pa.Buffer
    keys: pa.Array
    values: pa.Array


class Columns(NamedTuple):
    """What the records of a walk say; timestamps in microseconds."""

    key: pa.Array
    value: pa.Array
    offset: pa.Array
    timestamp: pa.Array
    timestamp_type: pa.Array
    headers: Headers | None


def walk(bodies: Bodies, start: int, end: int, headers: bool) -> Columns:
    """Every record of `bodies` with an offset from `start` up to `end`, as columns."""
    data, table = _laid_out(bodies)
    begin, stop = _records(data, table)
    each = np.repeat(table, table[:, COUNT], axis=0)
    cursor = Cursor(np.frombuffer(data, np.uint8), begin + 1, stop)  # behind the attributes, which are unused
    delta = cursor.varints()
    timestamp = _timestamps(each, delta)
    delta = cursor.varints()
    if ((delta < 0) | (delta > each[:, LAST_DELTA])).any():
        raise malformed("an offset outside its batch")
    offset = each[:, BASE_OFFSET] + delta
    key, value = cursor.blobs(), cursor.blobs()
    found = cursor.headers() if headers else None
    if found is None:
        cursor.skip_headers()
    keep = np.flatnonzero((offset >= start) & (offset < end))
    return Columns(
        _gathered(data, key, keep),
        _gathered(data, value, keep),
        numbers(offset[keep]),
        numbers(timestamp[keep] * 1000, schema.TIMESTAMP),
        numbers(each[keep, TIMESTAMP_TYPE].astype(np.int32)),
        None if found is None else _kept_headers(data, found, keep),
    )


def _laid_out(bodies: Bodies) -> tuple[Bytes, Longs]:
    """All records in one piece of memory, and the table with places in that."""
    table = np.array(bodies.table, np.int64).reshape(-1, COLUMNS)
    sizes = np.array([len(source) for source in bodies.sources], np.int64)
    if (table[:, STOP] > sizes[table[:, SOURCE]]).any():
        raise malformed("a batch is cut short")
    if len(bodies.sources) == 1 and sizes[0] <= INT32_MAX:  # as far as Arrow's offsets reach
        return bodies.sources[0], table
    spans = zip(table[:, SOURCE].tolist(), table[:, START].tolist(), table[:, STOP].tolist(), strict=True)
    views = [memoryview(source) for source in bodies.sources]
    data = b"".join([views[source][start:stop] for source, start, stop in spans])
    table[:, STOP] = np.cumsum(table[:, STOP] - table[:, START])
    table[1:, START] = table[:-1, STOP]
    table[:1, START] = 0
    return data, table


def _records(data: Bytes, table: Longs) -> tuple[Longs, Longs]:
    """Where each record begins, after its length, and where it stops."""
    begin: list[int] = []
    append = begin.append
    lengths: list[int] = []
    small = SMALL
    for pos, stop, count in table[:, [START, STOP, COUNT]].tolist():
        if not 0 <= count <= (stop - pos) // RECORD_BYTES_MIN:
            raise malformed(f"{count} records in {stop - pos} bytes")
        try:
            for _ in range(count):
                length = small[data[pos]]
                pos += 1
                if length is None:
                    length, pos = read_varint(data, pos - 1)
                if length < 0:
                    raise malformed(f"a record of {length} bytes")
                append(pos)
                lengths.append(length)
                pos += length
        except (IndexError, ProtocolError) as error:
            raise malformed("a record beyond its batch") from error
        if pos != stop:
            raise malformed("the records do not fill their batch")
    start = np.array(begin, np.int64)
    return start, start + np.array(lengths, np.int64)


def _timestamps(each: Longs, delta: Longs) -> Longs:
    """The records' times in milliseconds: their own, or with append time the batch's."""
    base, by_broker = each[:, TIMESTAMP], each[:, TIMESTAMP_TYPE] == 1
    timestamp = np.where(by_broker, base, base + delta)
    overflown = ~by_broker & ((base < 0) == (delta < 0)) & ((timestamp < 0) != (base < 0))
    if (overflown | (timestamp > MILLIS_MAX) | (timestamp < -MILLIS_MAX)).any():
        raise malformed("a timestamp that microseconds cannot tell")
    return timestamp


def _gathered(data: Bytes, blobs: Blobs, keep: Longs) -> pa.Array:
    """The kept ones of `blobs`: their bytes side by side, as Arrow wants them."""
    if not keep.size:
        return pa.array([], pa.binary())
    begin, length = blobs.begin[keep], blobs.length[keep]
    bounds = np.empty(2 * keep.size, np.int32)
    bounds[0::2] = begin
    bounds[1::2] = begin + np.maximum(length, 0)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    every_second = np.arange(0, bounds.size, 2)
    chosen = pa.array(every_second, mask=length < 0)
    return pa.Array.from_buffers(pa.binary(), bounds.size - 1, buffers).take(chosen)


def _kept_headers(data: Bytes, found: FoundHeaders, keep: Longs) -> Headers:
    counts = found.counts[keep]
    offsets = np.zeros(keep.size + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    first = np.cumsum(found.counts) - found.counts
    # The place of every kept header among all: its row's first, and how many come before it in the row.
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    places = np.repeat(first[keep], counts) + within
    return Headers(
        pa.py_buffer(np.packbits(counts > 0, bitorder="little")),
        int((counts == 0).sum()),
        pa.py_buffer(offsets.astype(np.int32)),
        _gathered(data, found.keys, places),
        _gathered(data, found.values, places),
    )
