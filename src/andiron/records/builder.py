"""Records made into batches: by clients and coordinators, and by the cleaner making old ones smaller.

    BatchBuilder      record by record, knowing its size; numbers them, or keeps given offsets
    build             all of them at once
    recompress        the same records in another codec (a topic's compression.type)
    retain            some of a batch's records, copied as bytes (compaction)

The law of the last two: offsets are promises. A batch made from another keeps its base offset and
last offset, even when the records that held them are gone, and its producer's id, epoch and
sequence, by which duplicates are known; so gaps within a batch are normal.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

from andiron.model.errors import ErrorCode
from andiron.records.batch import (
    APPEND_TIME,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    TRANSACTIONAL,
    Batch,
    seal,
)
from andiron.records.compression import NONE, UNPACKED_BYTES_MAX, compress
from andiron.records.record import Header, Record, contents
from andiron.records.varint import VARINT_BYTES_MAX, VARLONG_BYTES_MAX, encode_varint, read_varint

NO_TIMESTAMP: Final = -1

# Length, attributes, timestamp, offset, key length, value length, header count: at their longest.
_OVERHEAD_BYTES_MAX = 5 * VARINT_BYTES_MAX + VARLONG_BYTES_MAX + 1


class BatchBuilder:
    """A batch in the making. Records are encoded as they come, packed at the end."""

    __slots__ = (
        "_attributes",
        "_body",
        "_producer",
        "base_offset",
        "base_timestamp",
        "count",
        "last_offset_delta",
        "leader_epoch",
        "level",
        "max_timestamp",
    )

    def __init__(
        self,
        *,
        base_offset: int = 0,
        leader_epoch: int = -1,
        codec: int = NONE,
        level: int | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        timestamp_type: int = 0,
        transactional: bool = False,
        control: bool = False,
        delete_horizon: int | None = None,
    ) -> None:
        self.base_offset, self.leader_epoch, self.level = base_offset, leader_epoch, level
        self._producer = (producer_id, producer_epoch, base_sequence)
        self._attributes = (
            codec
            | (APPEND_TIME if timestamp_type else 0)
            | (TRANSACTIONAL if transactional else 0)
            | (CONTROL if control else 0)
            | (0 if delete_horizon is None else DELETE_HORIZON)
        )
        # What deltas count from: the first record's time, or the horizon in its place.
        self.base_timestamp = delete_horizon
        self.max_timestamp = NO_TIMESTAMP
        self.count = 0
        self.last_offset_delta = -1
        self._body = bytearray()

    @property
    def size(self) -> int:
        """The batch's bytes so far, before compression."""
        return HEADER_SIZE + len(self._body)

    def append(
        self,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[Header] = (),
        offset: int | None = None,
    ) -> int:
        """Add a record after the last one, or at an `offset` beyond it; returns its offset."""
        delta = self.last_offset_delta + 1 if offset is None else offset - self.base_offset
        if delta <= self.last_offset_delta:
            raise ErrorCode.INVALID_RECORD.error(f"offset {offset} is not beyond those already in the batch")
        if self.base_timestamp is None:
            self.base_timestamp = timestamp
        self._body += _encode(timestamp - self.base_timestamp, delta, key, value, headers)
        self.max_timestamp = max(self.max_timestamp, timestamp)
        self.last_offset_delta = delta
        self.count += 1
        return self.base_offset + delta

    def build(self, *, last_offset: int | None = None, max_timestamp: int | None = None) -> bytearray:
        """The batch; with `max_timestamp`, which append time needs, in place of the records' own."""
        top = self.max_timestamp if max_timestamp is None else max_timestamp
        delta = self.last_offset_delta if last_offset is None else last_offset - self.base_offset
        return _assemble(
            (
                self.base_offset,
                self.leader_epoch,
                self._attributes,
                delta,
                top if self.base_timestamp is None else self.base_timestamp,
                top,
                *self._producer,
                self.count,
            ),
            self._body,
            self.level,
        )

    def set_producer(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Name the producer: known to clients only when the batch is closed."""
        self._producer = (producer_id, producer_epoch, base_sequence)


def build(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    codec: int = NONE,
    level: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    timestamp_type: int = 0,
    transactional: bool = False,
    control: bool = False,
    delete_horizon: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """A batch of `records`, numbered from `base_offset` on; their own offsets are not looked at."""
    builder = BatchBuilder(
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        codec=codec,
        level=level,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        timestamp_type=timestamp_type,
        transactional=transactional,
        control=control,
        delete_horizon=delete_horizon,
    )
    for _, timestamp, key, value, headers in records:
        builder.append(timestamp, key, value, headers)
    return builder.build(max_timestamp=max_timestamp)


def record_bytes_max(key: bytes | None, value: bytes | None, headers: Iterable[Header] = ()) -> int:
    """No fewer bytes than the record will take: for asking whether it still fits."""
    size = _OVERHEAD_BYTES_MAX + len(key or b"") + len(value or b"")
    for name, content in headers:
        size += 2 * VARINT_BYTES_MAX + len(name.encode("utf-8", "replace")) + len(content or b"")
    return size


def recompress(
    batch: Batch, codec: int, level: int | None = None, cap: int = UNPACKED_BYTES_MAX
) -> bytearray:
    """The same batch with its records packed by `codec`."""
    attributes = batch.attributes & ~CODEC_MASK | codec
    fields = (*_place(batch), attributes, *_range(batch), *_producer(batch), batch.count)
    return _assemble(fields, contents(batch, cap), level)


def retain(
    batch: Batch,
    data: bytes,
    spans: Iterable[tuple[int, int]],
    *,
    delete_horizon: int | None = None,
    level: int | None = None,
) -> bytearray:
    """The batch with only the records at `spans` (start, stop) of `data`, its unpacked contents.

    A `delete_horizon` takes the base timestamp's place, so every delta is written anew. With no
    records left the header alone goes on, for the sake of the producer's last sequence.
    """
    base = batch.base_timestamp if delete_horizon is None else delete_horizon
    shift = batch.base_timestamp - base
    body, count, latest = bytearray(), 0, NO_TIMESTAMP
    for start, stop in spans:
        delta, rest = _timestamp_delta(data, start)
        latest = max(latest, batch.base_timestamp + delta)
        body += data[start:stop] if not shift else _redated(delta + shift, data[rest:stop])
        count += 1
    attributes = batch.attributes | (0 if delete_horizon is None else DELETE_HORIZON)
    top = batch.max_timestamp if batch.timestamp_type or not count else latest
    if not count:
        attributes, base = attributes & ~(CODEC_MASK | DELETE_HORIZON), top
    fields = (*_place(batch), attributes, batch.last_offset_delta, base, top, *_producer(batch), count)
    return _assemble(fields, body, level)


def _place(batch: Batch) -> tuple[int, int]:
    return batch.base_offset, batch.leader_epoch


def _range(batch: Batch) -> tuple[int, int, int]:
    return batch.last_offset_delta, batch.base_timestamp, batch.max_timestamp


def _producer(batch: Batch) -> tuple[int, int, int]:
    return batch.producer_id, batch.producer_epoch, batch.base_sequence


def _assemble(fields: tuple[int, ...], body: bytes | bytearray, level: int | None) -> bytearray:
    """Header and packed body; `fields` are the header's without length, magic and checksum."""
    base_offset, leader_epoch, attributes, *rest = fields
    codec = attributes & CODEC_MASK
    packed = compress(codec, body, level) if codec else body
    length = HEADER_SIZE - LOG_OVERHEAD + len(packed)
    try:
        batch = bytearray(HEADER.pack(base_offset, length, leader_epoch, MAGIC, 0, attributes, *rest))
    except struct.error as error:
        raise ErrorCode.INVALID_RECORD.error(f"a batch header cannot hold {fields}: {error}") from error
    batch += packed
    seal(batch, 0, len(batch))
    return batch


def _encode(
    timestamp_delta: int,
    offset_delta: int,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[Header],
) -> bytes:
    parts = [b"\x00", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    parts += (b"\x01",) if key is None else (encode_varint(len(key)), key)
    parts += (b"\x01",) if value is None else (encode_varint(len(value)), value)
    if headers:
        parts += _encode_headers(tuple(headers))
    else:
        parts.append(b"\x00")
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def _encode_headers(headers: tuple[Header, ...]) -> list[bytes]:
    parts = [encode_varint(len(headers))]
    for name, content in headers:
        encoded = name.encode("utf-8", "replace")
        parts += (encode_varint(len(encoded)), encoded)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)
    return parts


def _timestamp_delta(data: bytes, start: int) -> tuple[int, int]:
    """The timestamp delta of the record at `start`, and where its offset delta stands."""
    _, pos = read_varint(data, start)
    return read_varint(data, pos + 1)


def _redated(timestamp_delta: int, rest: bytes) -> bytes:
    """A record with another timestamp delta before its unchanged rest."""
    body = b"\x00" + encode_varint(timestamp_delta) + rest
    return encode_varint(len(body)) + body
