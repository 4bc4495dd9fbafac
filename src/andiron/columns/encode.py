"""Rows of one partition as record batches, sealed and ready to be sent: the way back of decode.py.

    pa.RecordBatch ──rows_of──▶ plain columns ──pack──▶ bodies of batches ──encode──▶ header, codec, checksum

Packing is C where the extension was built (native.py) and numpy where it was not (pack.py); either way the
bytes are those that a loop over `BatchBuilder` would make.

The law: a batch is closed before the record that would make it larger than `batch_bytes`, counted before
compression; a record larger than that by itself has a batch to itself. Sequences go on from batch to batch.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from andiron.columns.native import pack as native_pack
from andiron.columns.pack import PackedRows
from andiron.columns.pack import pack as numpy_pack
from andiron.columns.rows import Indices, rows_of
from andiron.records.batch import HEADER, HEADER_SIZE, LOG_OVERHEAD, MAGIC, TRANSACTIONAL, seal
from andiron.records.compression import compress

_SEQUENCES = 1 << 31  # after the last comes 0
_pack = native_pack or numpy_pack


class ProducerFields(NamedTuple):
    """Who writes, and whether in a transaction; the sequence is that of the first record."""

    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    transactional: bool = False


NOBODY = ProducerFields()


class EncodedBatches(NamedTuple):
    """A batch as it is sent."""

    data: bytearray
    records: int
    base_sequence: int


def encode(
    rows: pa.RecordBatch,
    *,
    codec: int,
    batch_bytes: int,
    now: int,
    producer: ProducerFields = NOBODY,
    indices: Indices | None = None,
) -> list[EncodedBatches]:
    """The batches of `rows`, or of those at `indices` in that order.

    `rows` has a column `value` and may have `key`, `headers` and `timestamp`, whose nulls mean `now` (in
    milliseconds); others are not looked at.
    """
    attributes = codec | (TRANSACTIONAL if producer.transactional else 0)
    sequence = producer.base_sequence
    encoded = []
    for packed in _pack(rows_of(rows, now), indices, batch_bytes):
        fields = (*producer[:2], sequence)
        encoded.append(EncodedBatches(_sealed(packed, attributes, codec, fields), packed.records, sequence))
        if sequence >= 0:
            sequence = (sequence + packed.records) % _SEQUENCES
    return encoded


def _sealed(packed: PackedRows, attributes: int, codec: int, producer: tuple[int, int, int]) -> bytearray:
    """Write the header into the room left for it, packing what follows if asked to."""
    data = packed.data
    if codec:
        data = bytearray(HEADER_SIZE)
        data += compress(codec, memoryview(packed.data)[HEADER_SIZE:])
    HEADER.pack_into(
        data,
        0,
        0,
        len(data) - LOG_OVERHEAD,
        -1,
        MAGIC,
        0,
        attributes,
        packed.records - 1,
        packed.base_timestamp,
        packed.max_timestamp,
        *producer,
        packed.records,
    )
    seal(data, 0, len(data))
    return data
