"""A record batch as the broker sees it: 61 bytes of header, and the rest left alone.

     0 base offset ······ 8 │ assigned by the leader: outside the checksum
     8 batch length ····· 4 │ of what follows this field
    12 leader epoch ····· 4 │ assigned by the leader: outside the checksum
    16 magic ············ 1 │ 2
    17 crc ·············· 4 │ CRC-32C of everything from here to the end
    21 attributes ······· 2 │ bits 0-2 codec · 3 append time · 4 transactional · 5 control · 6 delete horizon
    23 last offset delta  4 │
    27 base timestamp ··· 8 │ or, with bit 6, when tombstones of this compacted batch may go
    35 max timestamp ···· 8 │ or, with bit 3, the time of append of every record
    43 producer id ······ 8 │
    51 producer epoch ··· 2 │
    53 base sequence ···· 4 │
    57 record count ····· 4 │
    61 records ············ │ packed as the codec says

A batch is stored by writing base offset and leader epoch into the bytes it came in; nothing
else changes, so nothing is recomputed, unless its largest timestamp is not what it says.

The law: a `Batch` reads its header once and keeps what it read. It is a view, not a copy:
whoever reuses or overwrites the buffer makes it tell lies.

Read next: validate.py for what a producer may send, record.py for what lies inside.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, TypeAlias

from andiron.model.errors import ErrorCode
from andiron.records.crc32c import crc32c

Bytes = bytes | bytearray | memoryview
HeaderFields: TypeAlias = tuple[int, ...]  # as HEADER has them

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_SIZE: Final = 61
LOG_OVERHEAD: Final = 12  # base offset and length, which the length does not count
MAGIC: Final = 2

CODEC_MASK: Final = 0x07
APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40

CREATE_TIME_TYPE, APPEND_TIME_TYPE = 0, 1

_LENGTH_AT, _EPOCH_AT, _MAGIC_AT, _CRC_AT, _ATTRIBUTES_AT, _MAX_TIMESTAMP_AT = 8, 12, 16, 17, 21, 35
CHECKED_AT: Final = _ATTRIBUTES_AT  # the checksum covers from here to the end

_LENGTH_MIN = 14  # of a message in any format: less is no format at all, such as zeros after a crash
_SEQUENCES = 1 << 31  # sequence numbers wrap to 0 here
_INT16, _INT32, _UINT32, _INT64 = (struct.Struct(f) for f in (">h", ">i", ">I", ">q"))
_LENGTH_EPOCH_MAGIC = struct.Struct(">iib")


class Batch:
    """The header of the batch at `position` of `buf`; the whole batch need not be there yet."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "buf",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "magic",
        "max_timestamp",
        "position",
        "producer_epoch",
        "producer_id",
        "size",
    )

    buf: Bytes
    position: int
    base_offset: int
    size: int  # of the whole batch, the first twelve bytes included
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    def __init__(self, buf: Bytes, position: int = 0, fields: HeaderFields | None = None) -> None:
        """`fields` are those of the header, in its order, where they were read already."""
        if fields is None:
            try:
                fields = HEADER.unpack_from(buf, position)
            except struct.error as error:
                raise ErrorCode.CORRUPT_MESSAGE.error(f"no whole batch header at byte {position}") from error
        (
            self.base_offset,
            length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = fields
        self.size = length + LOG_OVERHEAD
        if self.size < HEADER_SIZE:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"a batch of {self.size} bytes at byte {position}")
        self.buf = buf
        self.position = position

    @property
    def last_offset(self) -> int:
        """The offset of the last record the batch was made with, even if compaction took it."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        """0: the producer's clock, record by record; 1: the broker's, for all of them."""
        return APPEND_TIME_TYPE if self.attributes & APPEND_TIME else CREATE_TIME_TYPE

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0

    @property
    def delete_horizon(self) -> int | None:
        """From when on compaction may drop this batch's tombstones and markers."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    @property
    def last_sequence(self) -> int:
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) % _SEQUENCES

    @property
    def payload(self) -> memoryview:
        """The records, as packed as they came."""
        return memoryview(self.buf)[self.position + HEADER_SIZE : self.position + self.size]

    @property
    def raw(self) -> memoryview:
        return memoryview(self.buf)[self.position : self.position + self.size]

    def is_intact(self) -> bool:
        """Whether the whole batch is here and matches its checksum."""
        stop = self.position + self.size
        return stop <= len(self.buf) and crc32c(self.buf, self.position + CHECKED_AT, stop) == self.crc

    def __repr__(self) -> str:
        return (
            f"Batch({self.base_offset}..{self.last_offset}, {self.count} records, {self.size} bytes, "
            f"epoch {self.leader_epoch}, attributes {self.attributes:#x}, producer {self.producer_id})"
        )


def stamp(buf: Bytes, position: int, base_offset: int, leader_epoch: int) -> None:
    """Write what the leader decides; a `Batch` read before keeps the old values."""
    _INT64.pack_into(buf, position, base_offset)
    _INT32.pack_into(buf, position + _EPOCH_AT, leader_epoch)


def stamp_append_time(buf: Bytes, position: int, now: int) -> None:
    """Give every record the time `now`, which lies inside the checksum: it is computed anew."""
    (length,) = _INT32.unpack_from(buf, position + _LENGTH_AT)
    (attributes,) = _INT16.unpack_from(buf, position + _ATTRIBUTES_AT)
    _INT16.pack_into(buf, position + _ATTRIBUTES_AT, attributes | APPEND_TIME)
    _INT64.pack_into(buf, position + _MAX_TIMESTAMP_AT, now)
    seal(buf, position, length + LOG_OVERHEAD)


def stamp_max_timestamp(buf: Bytes, position: int, max_timestamp: int) -> Batch:
    """The batch with the largest timestamp that it really has, sealed anew."""
    _INT64.pack_into(buf, position + _MAX_TIMESTAMP_AT, max_timestamp)
    (length,) = _INT32.unpack_from(buf, position + _LENGTH_AT)
    seal(buf, position, length + LOG_OVERHEAD)
    return Batch(buf, position)


def seal(buf: Bytes, position: int, size: int) -> None:
    """Write the checksum over a batch whose other bytes are final."""
    _UINT32.pack_into(buf, position + _CRC_AT, crc32c(buf, position + CHECKED_AT, position + size))


def iterate(buf: Bytes, position: int = 0, end: int | None = None) -> Iterator[Batch]:
    """The batches from `position` on; a fetch may end in a part of one, which is left out."""
    end = len(buf) if end is None else end
    while end - position > _MAGIC_AT:
        length, _, magic = _LENGTH_EPOCH_MAGIC.unpack_from(buf, position + _LENGTH_AT)
        if length < _LENGTH_MIN:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"a batch length of {length} at byte {position}")
        check_magic(magic)
        if length > end - position - LOG_OVERHEAD:
            return
        yield Batch(buf, position)
        position += length + LOG_OVERHEAD


def check_magic(magic: int) -> None:
    """Refuse message sets, gone since Kafka 4.0, and what no Kafka ever wrote."""
    if magic == MAGIC:
        return
    if magic in (0, 1):
        raise ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT.error(f"magic {magic}; only {MAGIC} is served")
    raise ErrorCode.CORRUPT_MESSAGE.error(f"magic {magic}")
