"""Routes rows of Arrow columns to topics and partitions, by the partitioner of records without columns.

    topic         the one given for all rows, or the row's own
    partition     the row's own, or by the hash of its key, or for a while one and then another (partitioner.py)

Rows are told by their numbers, in order within a partition, and nothing is done row by row: a column is
hashed, sorted and cut as a whole. What keyless rows get is what they would get one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from andiron.client.core.partitioner import StickyPartitioner
from andiron.columns.partition import partitions_of
from andiron.columns.rows import blobs
from andiron.model.errors import ErrorCode

Indices: TypeAlias = npt.NDArray[np.int64]
Partitions: TypeAlias = npt.NDArray[np.int32]

_NOWHERE = -1
_SHORT_MAX = (1 << 15) - 1


def by_topic(rows: pa.RecordBatch, topic: str | None) -> list[tuple[str, Indices | None]]:
    """The rows of each topic, None for all of them; a topic that is given goes before the rows' own."""
    if topic is not None:
        return [(topic, None)]
    if "topic" not in rows.schema.names:
        raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(
            "there is no column named topic, and none is given for all"
        )
    column = rows.column("topic")
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(f"row {row} has no topic, and none is given for all")
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return [(str(names[code]), indices) for code, indices in grouped(codes)]


def grouped(codes: npt.NDArray[np.signedinteger]) -> list[tuple[int, Indices | None]]:
    """The rows with each code, in order; None where all have the same."""
    if not codes.size:
        return []
    if (codes == codes[0]).all():
        return [(int(codes[0]), None)]
    if codes.max() <= _SHORT_MAX:
        codes = codes.astype(np.int16)  # which numpy sorts by digits, several times faster
    order = np.argsort(codes, kind="stable")
    found = codes[order]
    cuts = np.flatnonzero(found[1:] != found[:-1]) + 1
    return [(int(codes[rows[0]]), rows) for rows in np.split(order, cuts)]


def partitions_for(
    rows: pa.RecordBatch, count: int, topic: str, writable: Sequence[int], sticky: StickyPartitioner
) -> Partitions:
    """The partition of each row among `count`; rows without a key go to those that can be written to."""
    found = _own_partitions(rows)
    if "key" in rows.schema.names and (found < 0).any():
        found = np.where(found < 0, partitions_of(rows.column("key"), count), found)
    keyless = np.flatnonzero(found < 0)
    if keyless.size:
        found[keyless] = _in_turns(_sizes(rows)[keyless], topic, writable, sticky)
    return found


def _own_partitions(rows: pa.RecordBatch) -> Partitions:
    """What the rows say themselves; -1 where they say nothing."""
    if "partition" not in rows.schema.names:
        return np.full(rows.num_rows, _NOWHERE, np.int32)
    column = rows.column("partition")
    try:
        own = column.cast(pa.int32())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ErrorCode.INVALID_PARTITIONS.error(f"column partition is {column.type}: {error}") from error
    if pc.any(pc.less(own, 0)).as_py():
        raise ErrorCode.INVALID_PARTITIONS.error("a row names a partition below 0")
    filled: Partitions = own.fill_null(_NOWHERE).to_numpy(zero_copy_only=False).copy()
    return filled


def _sizes(rows: pa.RecordBatch) -> Indices:
    """The bytes of each row's value, which is what is most of it; a missing column is the encoder's to refuse."""
    if "value" not in rows.schema.names:
        return np.zeros(rows.num_rows, np.int64)
    lengths: Indices = pc.binary_length(blobs("value", rows.column("value"))).fill_null(0).to_numpy()
    return lengths


def _in_turns(sizes: Indices, topic: str, writable: Sequence[int], sticky: StickyPartitioner) -> Partitions:
    """One partition for a batch's worth of rows, then another."""
    found = np.empty(sizes.size, np.int32)
    ends = np.cumsum(sizes)
    row, spent = 0, 0
    while row < sizes.size:
        partition, left = sticky.turn(topic, writable)
        upto = min(int(np.searchsorted(ends, spent + left)) + 1, sizes.size)
        found[row:upto] = partition
        sticky.spend(topic, int(ends[upto - 1]) - spent)
        row, spent = upto, int(ends[upto - 1])
    return found
