"""Empty records for the offsets before a source's log start offset, so that an empty target keeps its offsets.

    source    ┄┄┄┄┄┄┄ deleted ┄┄┄┄┄┄┄ 5000 ─────
    target   0 ── empty records ── 4999│           written, and deleted by DeleteRecords
                                       5000 ─────  the first record of the copy

A log begins at 0 and grows by what is written: no request sets its beginning to anything else than a place in it. So as
many empty records are written as the source has lost, a hundred thousand to a batch of 140 KiB, packed, and
deleted at once. That needs a topic whose records may be deleted: not one that is compacted only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from andiron.records.builder import BatchBuilder
from andiron.records.compression import CODECS

BATCH_RECORDS = 100_000


def batches(start: int, end: int) -> Iterator[tuple[bytearray, int]]:
    """Empty records for the offsets from `start` up to `end`: batches, and how many are in each."""
    while start < end:
        count = min(BATCH_RECORDS, end - start)
        yield bytearray(_empty(count)), count
        start += count


@lru_cache(maxsize=2)
def _empty(count: int) -> bytes:
    builder = BatchBuilder(codec=CODECS["gzip"])
    for _ in range(count):
        builder.append(0, None, None)
    return bytes(builder.build())
