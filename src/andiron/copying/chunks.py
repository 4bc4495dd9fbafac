"""Batches of the source made into batches for the target: as they are where they can be, small ones together.

    ▭▭▭▭▭▭ 100 KiB, whole ───────────────────────────▶ the same bytes: codec, timestamps, headers untouched
    ▭ ▭ ▭ ▭  a record each ──decode──▶ rows ──encode──▶ ▭▭▭▭   one batch, in the codec they had
    ▭·▭··▭   compacted, or from the middle on ────────▶ ▭▭▭

A request takes one batch of a partition, so that many small batches would be as many requests. And a broker takes no
batch from a producer that has gaps in it, that says when it was appended, or whose base timestamp stands for something
else (the delete horizon of a compacted one): these are made anew from their rows.

Columns hold the names of headers as text. Where one is no text, which only an odd client writes, its batch goes alone.

The law: a chunk is one batch, so it arrives as a whole or not at all.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from andiron.client.core.outbox import ProducerIdentity
from andiron.columns.decode import decode
from andiron.columns.encode import encode
from andiron.model.ids import TopicPartition
from andiron.records.batch import APPEND_TIME, DELETE_HORIZON, TRANSACTIONAL, Batch, seal, stamp

WHOLE_BYTES = 8 << 10  # from here on a batch is worth a request of its own
TOGETHER_BYTES = 256 << 10  # of records in a batch made from several, before compression

_ATTRIBUTES_AT, _PRODUCER_AT = 21, 43
_ATTRIBUTES, _PRODUCER = struct.Struct(">h"), struct.Struct(">qhi")


class Chunk(NamedTuple):
    """One batch to be written, and the source's offsets of its first record and behind its last."""

    source: int
    source_end: int
    records: int
    data: bytearray


def chunks_of(
    batches: Sequence[Batch], partition: TopicPartition, start: int, batch_bytes: int = TOGETHER_BYTES
) -> list[Chunk]:
    """The records of `batches` from `start` on; data batches only, their checksums held against their bytes."""
    found: list[Chunk] = []
    together: list[Batch] = []
    for batch in batches:
        if batch.next_offset <= start or not batch.count:
            continue
        alone = batch.size >= WHOLE_BYTES and _is_whole(batch, start)
        if together and (alone or together[-1].codec != batch.codec):
            found += _made_of(together, partition, start, batch_bytes)
            together = []
        if alone:
            found.append(_as_it_is(batch))
        else:
            together.append(batch)
    return found + _made_of(together, partition, start, batch_bytes)


def signed(data: bytearray, identity: ProducerIdentity, sequence: int) -> bytearray:
    """The batch as one of this producer's, sealed anew."""
    _PRODUCER.pack_into(data, _PRODUCER_AT, *identity, sequence)
    seal(data, 0, len(data))
    return data


def _is_whole(batch: Batch, start: int) -> bool:
    """Whether a broker takes it from a producer as it is."""
    return (
        batch.base_offset >= start
        and batch.count == batch.last_offset_delta + 1
        and not batch.attributes & (APPEND_TIME | DELETE_HORIZON)
    )


def _as_it_is(batch: Batch) -> Chunk:
    data = bytearray(batch.raw)
    stamp(data, 0, 0, -1)
    _ATTRIBUTES.pack_into(data, _ATTRIBUTES_AT, batch.attributes & ~TRANSACTIONAL)
    return Chunk(batch.base_offset, batch.next_offset, batch.count, data)


def _made_of(
    batches: Sequence[Batch], partition: TopicPartition, start: int, batch_bytes: int
) -> list[Chunk]:
    if not batches:
        return []
    if len(batches) == 1 and _is_whole(batches[0], start):
        return [_as_it_is(batches[0])]
    rows = decode(batches, *partition, start=start, headers=True)
    if len(batches) > 1 and _has_names_replaced(rows):
        return [chunk for each in batches for chunk in _made_of([each], partition, start, batch_bytes)]
    offsets = rows.column("offset").to_numpy().astype(np.int64)
    found, at = [], 0
    for made in encode(rows, codec=batches[0].codec, batch_bytes=batch_bytes, now=0):
        last = int(offsets[at + made.records - 1])
        found.append(Chunk(int(offsets[at]), last + 1, made.records, made.data))
        at += made.records
    return found


def _has_names_replaced(rows: pa.RecordBatch) -> bool:
    """Whether the name of a header is no text, and shows as what stands in for it."""
    names = rows.column("headers").flatten().field(0)
    return bool(pc.any(pc.match_substring(names, "\ufffd")).as_py())
