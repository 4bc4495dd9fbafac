"""The records inside a batch, opened one by one.

    length · attributes · timestamp delta · offset delta · key length · key · value length · value
           · header count · (key length · key · value length · value)*

All but the attributes byte, which is unused, are varints or follow one; a length of -1 is a
null. Deltas count from the batch's base offset and base timestamp.

Two ways through them. `records_of` makes a `Record` of each, for consumers and replay.
`keys_of` looks only at what compaction asks about and says where each record lies, so that
the ones it keeps are copied as bytes.

The law: a CRC that holds says that the bytes are the producer's, not that they make sense.
Whatever they are, the answer is records or INVALID_RECORD.

Read next: builder.py, the way back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.compression import UNPACKED_BYTES_MAX, decompress
from andiron.records.varint import SMALL, read_varint

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    """One record, with its place and time in the log."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class KeyAt(NamedTuple):
    """What compaction asks of a record; `start` and `stop` are where it lies in the contents."""

    offset: int
    key: bytes | None
    value_is_null: bool
    start: int
    stop: int


def contents(batch: Batch, cap: int = UNPACKED_BYTES_MAX) -> bytes:
    """The batch's records as bytes, unpacked; at most `cap` of them."""
    return decompress(batch.codec, batch.payload, cap) if batch.count else b""


def records_of(batch: Batch, cap: int = UNPACKED_BYTES_MAX) -> Iterator[Record]:
    """Every record of the batch, in order."""
    data = contents(batch, cap)
    base, last_delta = batch.base_offset, batch.last_offset_delta
    # With the broker's clock all records share one timestamp and their own deltas mean nothing.
    base_timestamp = batch.base_timestamp if batch.timestamp_type == 0 else None
    max_timestamp = batch.max_timestamp
    new = tuple.__new__  # half the price of Record(...)
    size, pos = len(data), 0
    try:
        for _ in range(batch.count):
            length = SMALL[data[pos]]
            pos += 1
            if length is None:
                length, pos = read_varint(data, pos - 1)
            stop = pos + length
            pos += 1  # attributes
            timestamp = SMALL[data[pos]]
            pos += 1
            if timestamp is None:
                timestamp, pos = read_varint(data, pos - 1)
            offset = SMALL[data[pos]]
            pos += 1
            if offset is None:
                offset, pos = read_varint(data, pos - 1)
            n = SMALL[data[pos]]
            pos += 1
            if n is None:
                n, pos = read_varint(data, pos - 1)
            key = None
            if n >= 0:
                key = data[pos : pos + n]
                pos += n
            n = SMALL[data[pos]]
            pos += 1
            if n is None:
                n, pos = read_varint(data, pos - 1)
            value = None
            if n >= 0:
                value = data[pos : pos + n]
                pos += n
            headers: tuple[Header, ...] = ()
            if data[pos]:
                headers, pos = _headers(data, pos)
            else:
                pos += 1
            if pos != stop or stop > size or not 0 <= offset <= last_delta:
                raise _malformed(batch, stop)
            timestamp = max_timestamp if base_timestamp is None else base_timestamp + timestamp
            yield new(Record, (base + offset, timestamp, key, value, headers))
    except IndexError as error:
        raise _malformed(batch, pos) from error
    if pos != size or batch.count < 0:
        raise _malformed(batch, pos)


def keys_of(batch: Batch, data: bytes | None = None) -> Iterator[KeyAt]:
    """Every record's offset, key and place in `data`, which is `contents(batch)` if not given."""
    data = contents(batch) if data is None else data
    base, last_delta = batch.base_offset, batch.last_offset_delta
    new = tuple.__new__
    size, stop = len(data), 0
    try:
        for _ in range(batch.count):
            start = pos = stop
            length = SMALL[data[pos]]
            pos += 1
            if length is None:
                length, pos = read_varint(data, pos - 1)
            stop = pos + length
            pos += 1  # attributes
            while data[pos] >= 0x80:  # the timestamp, unread
                pos += 1
            pos += 1
            offset = SMALL[data[pos]]
            pos += 1
            if offset is None:
                offset, pos = read_varint(data, pos - 1)
            n = SMALL[data[pos]]
            pos += 1
            if n is None:
                n, pos = read_varint(data, pos - 1)
            key = None
            if n >= 0:
                key = data[pos : pos + n]
                pos += n
            is_null = data[pos] & 1 == 1  # in zigzag the lowest bit is the sign
            if not pos < stop <= size or not 0 <= offset <= last_delta:
                raise _malformed(batch, start)
            yield new(KeyAt, (base + offset, key, is_null, start, stop))
    except IndexError as error:
        raise _malformed(batch, stop) from error
    if stop != size or batch.count < 0:
        raise _malformed(batch, stop)


def _headers(data: bytes, pos: int) -> tuple[tuple[Header, ...], int]:
    """The headers whose count stands at `pos`, and the position after them."""
    count, pos = read_varint(data, pos)
    if count < 0:
        raise ErrorCode.INVALID_RECORD.error(f"{count} headers")
    headers: list[Header] = []
    for _ in range(count):
        n, pos = read_varint(data, pos)
        if n < 0:
            raise ErrorCode.INVALID_RECORD.error("a header without a key")
        name = data[pos : pos + n].decode("utf-8", "replace")  # as Java reads it
        pos += n
        n, pos = read_varint(data, pos)
        if n < 0:
            headers.append((name, None))
        else:
            headers.append((name, data[pos : pos + n]))
            pos += n
    return tuple(headers), pos


def _malformed(batch: Batch, pos: int) -> ProtocolError:
    return ErrorCode.INVALID_RECORD.error(f"{batch} is malformed near byte {pos} of its records")
