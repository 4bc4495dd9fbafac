"""A fetch answer's batches as one Arrow record batch: a walk over all of them, no object for each record.

    batches ──bodies_of──▶ where records lie ──walk──▶ keys, values, offsets … ──decode──▶ pa.RecordBatch

The walk is C where the extension was built (native.py) and numpy where it was not (walk.py). Its fixed price
is paid a call, so callers hand over all that a fetch brought for a partition, however small the batches.

What Spark's own source shows is shown here: a record without headers has a null for them, a record without
a timestamp (-1) is of 1969-12-31 23:59:59.999, and a header's key that is not UTF-8 has U+FFFD in the bad
places, as Java reads it.

The law: a checksum that holds says that the bytes are the producer's, not that they make sense. Whatever
they are, the answer is columns or CORRUPT_MESSAGE. Headers that are not asked for are not looked into.

Read next: bodies.py, then walk.py or native/decode.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from andiron.columns.arrays import numbers, repeated
from andiron.columns.bodies import INT64_MAX, bodies_of
from andiron.columns.native import walk as native_walk
from andiron.columns.schema import HEADER, HEADERS, arrow_schema
from andiron.columns.walk import Columns, Headers
from andiron.columns.walk import walk as numpy_walk
from andiron.records.batch import Batch

_KEPT_ROWS = 65_536
_walk = native_walk or numpy_walk


def decode(
    batches: Sequence[Batch],
    topic: str,
    partition: int,
    *,
    start: int = 0,
    end: int | None = None,
    headers: bool = False,
) -> pa.RecordBatch:
    """The records of `batches` with offsets from `start` up to `end`, as columns of `arrow_schema(headers)`.

    Data batches only, their checksums held against their bytes: dropping control batches and those of
    aborted transactions is the caller's part.
    """
    end = INT64_MAX if end is None else end
    return _assembled(_walk(bodies_of(batches, start, end), start, end, headers), topic, partition)


def _assembled(found: Columns, topic: str, partition: int) -> pa.RecordBatch:
    rows = len(found.offset)
    columns = [
        found.key,
        found.value,
        _repeated(topic, rows),
        numbers(np.full(rows, partition, np.int32)),
        found.offset,
        found.timestamp,
        found.timestamp_type,
    ]
    if found.headers is None:
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(headers=False))
    columns.append(_header_lists(found.headers, rows))
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(headers=True))


def _repeated(topic: str, rows: int) -> pa.Array:
    """The topic's name in every row; as many as most answers have are kept, and slices of them given."""
    return _kept(topic)[:rows] if rows <= _KEPT_ROWS else repeated(topic, rows)


@lru_cache(maxsize=8)
def _kept(topic: str) -> pa.Array:
    return repeated(topic, _KEPT_ROWS)


def _header_lists(headers: Headers, rows: int) -> pa.Array:
    structs = pa.StructArray.from_arrays([_texts(headers.keys), headers.values], fields=list(HEADER))
    return pa.Array.from_buffers(
        HEADERS, rows, [headers.valid, headers.offsets], headers.nulls, children=[structs]
    )


def _texts(keys: pa.Array) -> pa.Array:
    """Header keys as text; what is no UTF-8 is replaced."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in keys.to_pylist()], pa.string())
