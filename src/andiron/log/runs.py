"""Replicated records, cut into runs that each go into one segment with one write.

    records of a fetch   │ batch │ batch │ batch │ batch │ batch │ part
    runs                 ├─ room left in the active ─┼─ a new one ─┤ left out

A follower gets what its leader has, many batches at a time, with offsets and epochs already in
them. They are checked before anything is written: offsets rise, checksums hold.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.log.disk import Buffer
from andiron.log.segment import RELATIVE_OFFSET_MAX
from andiron.model.errors import ErrorCode
from andiron.records.batch import Batch, iterate


class Run(NamedTuple):
    """Neighbouring batches, for one segment."""

    batches: list[Batch]
    data: memoryview

    def places(self) -> list[tuple[int, int, int]]:
        """(size, last offset, max timestamp) of each."""
        return [(batch.size, batch.last_offset, batch.max_timestamp) for batch in self.batches]


def split(records: Buffer, end: int, base: int, room: int, segment_bytes: int) -> list[Run]:
    """Runs to append to a log that ends at `end`, whose active segment has a `base` and `room` left.

    Only a batch that is larger than a segment by itself makes a run that is.
    """
    runs: list[Run] = []
    batches: list[Batch] = []
    for batch in iterate(records):
        _check(batch, end)
        end = batch.next_offset
        if batch.size > room or batch.last_offset - base > RELATIVE_OFFSET_MAX:
            if batches:
                runs.append(_run(batches, records))
                batches = []
            base, room = batch.base_offset, segment_bytes
        batches.append(batch)
        room -= batch.size
    return [*runs, _run(batches, records)] if batches else runs


def _check(batch: Batch, end: int) -> None:
    if not end <= batch.base_offset <= batch.last_offset:
        raise ErrorCode.OFFSET_OUT_OF_RANGE.error(
            f"the log ends at {end} and {batch} does not go on from there"
        )
    if not batch.is_intact():
        raise ErrorCode.CORRUPT_MESSAGE.error(f"{batch} fails its checksum")


def _run(batches: list[Batch], records: Buffer) -> Run:
    last = batches[-1]
    return Run(batches, memoryview(records)[batches[0].position : last.position + last.size])
