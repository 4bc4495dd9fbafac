"""From a time to an offset, and to the latest time: what ListOffsets asks.

    segment    the first one with a timestamp as late as asked for
    index      an entry before which nothing is that late
    headers    the first batch whose largest timestamp is that late
    records    that one batch is opened for the exact record

Timestamps need not rise within a log, so "the first record at or after t" is meant by offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from andiron.log.segment import Segment
from andiron.log.segments import Segments
from andiron.model.ids import LeaderEpoch, Offset
from andiron.records.batch import Batch
from andiron.records.seek import LATEST, seek


class TimestampAndOffset(NamedTuple):
    """The offset, timestamp and leader epoch of a record, as ListOffsets answers with them (KIP-79)."""

    offset: Offset
    timestamp: int
    leader_epoch: LeaderEpoch


def first_at_or_after(
    segments: Sequence[Segment], timestamp: int, start: int, upto: int
) -> TimestampAndOffset | None:
    """The first record in [start, upto) that is as late as `timestamp`."""
    for segment in segments:
        if segment.base >= upto:
            return None
        if segment.indexes.max_timestamp < timestamp:
            continue
        for position, header in segment.headers(segment.position_for_time(timestamp, start)):
            if header.base_offset >= upto:
                return None
            if header.max_timestamp >= timestamp and header.last_offset >= start:
                found = _first_in(_whole(segment, position, header), timestamp, start)
                if found is not None:
                    return found if found.offset < upto else None
    return None


def latest(segments: Sequence[Segment], start: int, upto: int) -> TimestampAndOffset | None:
    """The first record with the largest timestamp of all from `start` on, if it lies below `upto`.

    Where none has a timestamp that is the first of all, as in Kafka.
    """
    best: TimestampAndOffset | None = None
    for segment in sorted(segments, key=lambda each: each.indexes.max_timestamp, reverse=True):
        top, peak = segment.indexes.max_timestamp, segment.indexes.offset_of_max
        if best is not None and top < best.timestamp:
            break
        if best is not None and top == best.timestamp and segment.base > best.offset:
            continue
        found = _latest_from(segment, max(peak, start), start, best, top)
        if peak > start and (found is None or found.timestamp < top):
            # Compaction has left of that batch its header alone: it may be any of the others.
            found = _latest_from(segment, start, start, best, top)
        best = found
    return best if best is not None and best.offset < upto else None


def _latest_from(
    segment: Segment, offset: int, start: int, best: TimestampAndOffset | None, top: int
) -> TimestampAndOffset | None:
    """The best of those in a segment, looked through from `offset` on until one is as late as `top`, and the one that
    is known."""
    for position, header in segment.headers(segment.position_of(offset)):
        if best is None or header.max_timestamp >= best.timestamp:
            best = _latest_in(_whole(segment, position, header), start, best)
            if best is not None and best.timestamp == top:
                break
    return best


def time_of(segments: Segments, offset: int) -> int | None:
    """When the batch was begun that holds the first record at `offset` or later, by its header alone; None if there is
    none, or it has no time."""
    for segment in segments.holding(offset):
        found = next(segment.headers(segment.position_of(offset)), None)
        if found is not None:
            _, header = found
            time = header.max_timestamp if header.timestamp_type else header.base_timestamp
            return time if time >= 0 else None
    return None


def _whole(segment: Segment, position: int, header: Batch) -> Batch:
    return Batch(segment.file.read(position, header.size))


def _first_in(batch: Batch, timestamp: int, start: int) -> TimestampAndOffset | None:
    found = _found(batch, timestamp, start)
    return found if found is not None and found.timestamp >= timestamp else None


def _latest_in(batch: Batch, start: int, best: TimestampAndOffset | None) -> TimestampAndOffset | None:
    """The first record of the batch with the largest timestamp, or the best so far if that is later or comes before."""
    found = _found(batch, LATEST, start)
    if found is None or best is None:
        return found or best
    return max(found, best, key=lambda each: (each.timestamp, -each.offset))


def _found(batch: Batch, timestamp: int, start: int) -> TimestampAndOffset | None:
    found = seek(batch, start, timestamp)
    return (
        None
        if found is None
        else TimestampAndOffset(Offset(found[0]), found[1], LeaderEpoch(batch.leader_epoch))
    )
