"""Compaction: the latest record of each key stays, at its offset; the older ones go.

    map       read the dirty part, note the last offset of every key, until the memory is used up
    group     put neighbouring segments together that will fit into one
    rewrite   each group, batch by batch, into one segment named *.cleaned
    swap      the owner of the log puts those in place of the old (partition_log.py, in the loop)

All but the swap is this job, which runs in another process on sealed segments only, reads them and
writes nothing but *.cleaned. If it dies, its litter is removed by the next job or start; if the log
was cut or has lost segments meanwhile, the owner throws the result away.

What stays of a batch: a record that is the latest of its key; a tombstone (a key without a value)
until the batch's delete horizon, which the first round to meet it sets delete.retention.ms ahead; a
header without records where it holds the last sequence of a producer, or the last offset of the round.
Transactions: cleaned_transactions.py. A batch in which nothing changes is copied byte for byte.

The law: offsets never change, nor does anything at or after the offset the map ends with.

Read next: batch_filter.py for the rules, cleaner.py for who runs this and when.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import le
from typing import NamedTuple

from andiron.log import layout
from andiron.log.abort_index import AbortedTransaction
from andiron.log.batch_filter import BatchFilter, DeleteHorizon, ProducerEnd
from andiron.log.cleaned_transactions import CleanedTransactions
from andiron.log.disk import Disk
from andiron.log.offset_map import OffsetMap
from andiron.log.segment import RELATIVE_OFFSET_MAX, Segment
from andiron.log.settings import LogSettings
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset, TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import keys_of

_WRITE_BYTES = 1 << 20  # collected before a write


class Replacement(NamedTuple):
    """The segment of base `new`, still called *.cleaned, holds what stays of the segments `old`."""

    old: tuple[int, ...]
    new: int


class CompactionResult(NamedTuple):
    """What a round of compaction has made ready."""

    replacements: tuple[Replacement, ...]  # a segment in which nothing changes is in none
    cleaned_upto: Offset
    bytes_read: int
    bytes_written: int


class UncleanableLog(NamedTuple):
    """A log that cannot be compacted: something in it is not what it should be."""

    reason: str


@dataclass(frozen=True, slots=True)
class CompactionJob:
    """One round over one log. It is handed to another process whole."""

    partition: TopicPartition
    directory: str
    settings: LogSettings
    bases: tuple[int, ...]  # of the segments from the first one up to `end`, all of them sealed
    first_dirty: Offset
    end: Offset  # the first offset that may not be cleaned: the base of the segment after the last
    aborted: tuple[AbortedTransaction, ...]  # that touch these segments, wherever their markers are
    producers: Mapping[int, ProducerEnd]
    now: Millis
    buffer_bytes: int = 128 << 20
    load_factor: float = 0.9
    bytes_per_second_max: float = math.inf  # obeyed by the worker's disk

    def run(self, disk: Disk) -> CompactionResult | UncleanableLog:
        """Write the cleaned segments; nothing else is touched."""
        try:
            return self._clean(disk)
        except ProtocolError as error:
            return UncleanableLog(str(error))

    def _clean(self, disk: Disk) -> CompactionResult:
        sizes = disk.names(self.directory)
        self._remove_litter(disk, sizes)
        sources = [self._source(disk, base, sizes) for base in self.bases]
        offsets, cleaned_upto = self._map_keys(sources)
        covered = [source for source in sources if source.base < cleaned_upto]
        batch_filter = BatchFilter(
            offsets,
            cleaned_upto,
            end=self.end,
            transactions=CleanedTransactions(self.aborted),
            producers=self.producers,
            horizon=DeleteHorizon(self.now, self.settings.delete_retention_ms),
        )
        written = [
            self._rewrite(disk, group, batch_filter)
            for group in plan_groups(covered, sizes, self.settings, self.end)
        ]
        disk.sync_directory(self.directory)
        return CompactionResult(
            tuple(replacement for replacement, _ in written if replacement is not None),
            cleaned_upto,
            sum(source.size for source in covered),
            sum(size for _, size in written),
        )

    def _map_keys(self, sources: Sequence[Segment]) -> tuple[OffsetMap, Offset]:
        """The latest offsets of the keys in the dirty part, as far as the map goes, and how far that is."""
        first_dirty = self.first_dirty
        offsets = OffsetMap(self.buffer_bytes, self.load_factor, self.end - first_dirty)
        transactions = CleanedTransactions(each for each in self.aborted if each.last_offset >= first_dirty)
        for batch in self._dirty_batches(sources):
            if batch.is_control:
                transactions.is_spent(batch)
            elif not transactions.is_aborted(batch):
                for offset, key, *_ in keys_of(batch):
                    if key is not None and offset >= first_dirty:
                        if offsets.is_full:
                            return offsets, Offset(offset)
                        offsets.put(key, offset)
        return offsets, self.end

    def _dirty_batches(self, sources: Sequence[Segment]) -> Iterator[Batch]:
        """Walked by headers up to the first dirty offset: the indexes belong to another process."""
        ends = [*(source.base for source in sources[1:]), self.end]
        for source, end in zip(sources, ends, strict=False):
            if end > self.first_dirty:
                for batch in _intact(source):
                    if batch.last_offset >= self.first_dirty:
                        yield batch

    def _rewrite(
        self, disk: Disk, group: Sequence[Segment], batch_filter: BatchFilter
    ) -> tuple[Replacement | None, int]:
        """What stays of a group, in a new segment; and its size."""
        base = group[0].base
        cleaned = Segment.create(disk, self.directory, base, self.settings, self.now, state=layout.CLEANED)
        writer, is_changed = _Writer(cleaned), len(group) > 1
        for batch in chain.from_iterable(map(_intact, group)):
            kept = batch_filter.keep(batch)
            is_changed = is_changed or kept is not batch
            if kept is not None:
                writer.append(kept)
            if batch_filter.ended is not None:
                cleaned.indexes.aborts.append(batch_filter.ended)
        writer.flush()
        cleaned.seal()
        for file in cleaned.files():
            file.sync()
        for segment in (cleaned, *group):
            segment.close()
        if is_changed:
            return Replacement(tuple(source.base for source in group), base), cleaned.size
        for kind in layout.SEGMENT_FILES:
            disk.remove(f"{self.directory}/{layout.file_name(base, kind, layout.CLEANED)}")
        return None, cleaned.size

    def _source(self, disk: Disk, base: int, sizes: Mapping[str, int]) -> Segment:
        """A segment as it was when the job was planned: to open one that is gone would make an empty one."""
        source = Segment.open(disk, self.directory, base, self.settings, sizes=sizes)
        if not disk.exists(source.path):
            raise AndironError(f"{source.path} is gone")
        return source

    def _remove_litter(self, disk: Disk, sizes: Mapping[str, int]) -> None:
        """What a job that died has left."""
        for name in sizes:
            if name.endswith(layout.CLEANED):
                disk.remove(f"{self.directory}/{name}")


class _Writer:
    """Batches on their way into a segment, many to a write."""

    __slots__ = ("_bytes", "_places", "_segment")

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._bytes = bytearray()
        self._places: list[tuple[int, int, int]] = []

    def append(self, batch: Batch) -> None:
        self._bytes += batch.raw
        self._places.append((batch.size, batch.last_offset, batch.max_timestamp))
        if len(self._bytes) >= _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        self._segment.append_run(self._bytes, self._places)
        self._bytes, self._places = bytearray(), []


def plan_groups(
    segments: Sequence[Segment], sizes: Mapping[str, int], settings: LogSettings, end: Offset
) -> list[list[Segment]]:
    """Neighbours that fit into one segment together, though nothing be removed from them.

    `sizes` is the directory's listing, for the indexes; `end` is where the last segment's offsets end.
    """
    limits = settings.segment_bytes, settings.segment_index_bytes, settings.segment_index_bytes
    groups: list[list[Segment]] = []
    filled = (0, 0, 0)
    ends = [*(segment.base for segment in segments[1:]), end]
    for segment, segment_end in zip(segments, ends, strict=False):
        index, times = (
            sizes.get(layout.file_name(segment.base, kind), 0) for kind in (layout.INDEX, layout.TIME_INDEX)
        )
        together = filled[0] + segment.size, filled[1] + index, filled[2] + times
        in_range = bool(groups) and (
            not segment.size or segment_end - 1 - groups[-1][0].base <= RELATIVE_OFFSET_MAX
        )
        if in_range and all(map(le, together, limits)):
            groups[-1].append(segment)
            filled = together
        else:
            groups.append([segment])
            filled = segment.size, index, times
    return groups


def _intact(segment: Segment) -> Iterator[Batch]:
    """Every batch, its checksum looked at: to give a damaged one a new checksum would hide the damage."""
    for batch in segment.batches():
        if not batch.is_intact():
            raise ErrorCode.CORRUPT_MESSAGE.error(f"{segment.path} has {batch}, which fails its checksum")
        yield batch
