"""The records of many batches, laid out for one walk over all of them.

    sources   bytes that hold records: the fetch answer itself, and one for each batch that was packed
    table     a row of eight numbers a batch: which source, from, to, base offset, last offset delta,
              timestamp to count from (or the time of append), timestamp type, record count

A fetch answer is walked where it lies; only what is compressed is unpacked into bytes of its own. Batches
that hold nothing of what is wanted are left out by their headers alone.

The law: whoever walks trusts the table's first three columns for nothing but where to look. They come from
headers, and headers may lie: each read is checked against its source.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import APPEND_TIME, CODEC_MASK, HEADER_SIZE, Batch, Bytes
from andiron.records.record import contents

COLUMNS: Final = 8  # numbers a batch in the table
SOURCE, START, STOP, BASE_OFFSET, LAST_DELTA, TIMESTAMP, TIMESTAMP_TYPE, COUNT = range(COLUMNS)

INT32_MAX: Final = (1 << 31) - 1
INT64_MAX: Final = (1 << 63) - 1
RECORD_BYTES_MIN: Final = 7  # length, attributes, timestamp, offset, key, value, headers: a byte each


class Bodies(NamedTuple):
    """Where the wanted batches' records lie."""

    sources: list[Bytes]
    table: array[int]


def bodies_of(batches: Sequence[Batch], start: int, end: int) -> Bodies:
    """Lay out those batches that may hold offsets from `start` up to `end`."""
    sources: list[Bytes] = []
    table = array("q")
    shared: Bytes | None = None  # the source of batches that lie side by side
    place = 0
    for batch in batches:
        base, attributes = batch.base_offset, batch.attributes
        last = base + batch.last_offset_delta
        if last < start or base >= end or not batch.count:
            continue
        if last > INT64_MAX:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"{batch} ends beyond the last offset there is")
        timestamp = batch.max_timestamp if attributes & APPEND_TIME else batch.base_timestamp
        rest = (base, batch.last_offset_delta, timestamp, (attributes & APPEND_TIME) >> 3, batch.count)
        if attributes & CODEC_MASK:
            data = _unpacked(batch)
            sources.append(data)
            table.extend((len(sources) - 1, 0, len(data), *rest))
            continue
        if batch.buf is not shared:
            shared = batch.buf
            place = len(sources)
            sources.append(shared)
        position = batch.position
        table.extend((place, position + HEADER_SIZE, position + batch.size, *rest))
    _check_size(table)
    return Bodies(sources, table)


def _unpacked(batch: Batch) -> bytes:
    try:
        return contents(batch)
    except ProtocolError as error:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"{batch} does not unpack: {error}") from error


def _check_size(table: array[int]) -> None:
    """Arrow counts the bytes of a binary column in 32 bits."""
    size = sum(table[STOP::COLUMNS]) - sum(table[START::COLUMNS])
    if size > INT32_MAX:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"the batches unpack to {size} bytes: decode fewer at once")
