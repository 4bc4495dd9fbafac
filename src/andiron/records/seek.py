"""A record by its time: the first of a batch that is as late as asked for, or else the latest there is.

A batch may hold millions of records, and a node answers nobody else while it looks through them, so native/seek.c
does where it was compiled: in some 5 ns a record, where a `Record` of each takes a microsecond.

Read next: log/timestamp_lookup.py, which finds the batch.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.records import native
from andiron.records.batch import APPEND_TIME_TYPE, Batch
from andiron.records.compression import unpacked
from andiron.records.record import records_of

ANY_TIME, LATEST = -(1 << 63), (1 << 63) - 1


def seek(batch: Batch, first: int, timestamp: int) -> tuple[int, int] | None:
    """Offset and timestamp of the first record from offset `first` on that is as late as `timestamp`.

    If none is, those of the first of the latest; None if there is no record from `first` on.
    """
    if native.seek is None:
        return by_records(batch, first, timestamp)
    if not batch.count:
        return None
    # With the broker's clock all records share one timestamp and their own deltas mean nothing.
    shared = batch.timestamp_type == APPEND_TIME_TYPE
    data = unpacked(batch.codec, batch.payload)
    wanted = ANY_TIME if shared else timestamp
    after = max(0, first - batch.base_offset)
    try:
        found = native.seek(data, 0, len(data), batch.base_timestamp, batch.count, after, wanted)
    except ValueError as error:
        raise ErrorCode.INVALID_RECORD.error(f"{batch}: {error}") from error
    if found is None:
        return None
    offset, time = found
    return batch.base_offset + offset, batch.max_timestamp if shared else time


def by_records(batch: Batch, first: int, timestamp: int) -> tuple[int, int] | None:
    """The same without a compiler."""
    best: tuple[int, int] | None = None
    for record in records_of(batch):
        if record.offset >= first and (best is None or record.timestamp > best[1]):
            best = record.offset, record.timestamp
            if record.timestamp >= timestamp:
                break
    return best
