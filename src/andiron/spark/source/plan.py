"""The plan of one micro-batch: its end within maxOffsetsPerTrigger, and the ranges of its tasks.

    start ──▶ admit ──▶ end          the source, before a batch: how much, by rows and by bytes
    start, end ──▶ ranges ──▶ cut    the same source, or another process after a crash: what exactly

    partition 0   ███████████████████████▏            maxOffsetsPerTrigger is shared out by lag:
    partition 1   ██▏                                 who is far behind gets more, and nobody nothing
    partition 2   ████████████▏

`admit` may look at the clock and at the log, for its answer goes into Spark's offset log before anything
is read. `ranges` and `cut` may not: a batch that is run again after a crash must read the same records, so
they are functions of start and end alone, as long as the log is whole.

Offsets are counted, not records: compaction and transactions leave holes, so a range holds at most as many
records as offsets.

Read next: stream.py and batch.py, who ask; scan.py, which reads one range.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.model.settings import MINUTE
from andiron.spark.source.offsets import Offsets, shown

MAX_TRIGGER_DELAY_MS = 15 * MINUTE


class DataLoss(AndironError):
    """Records that were still to be read are gone; the message says which."""


class Range(NamedTuple):
    """Offsets of one partition, `end` not included."""

    partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class Log(NamedTuple):
    """A partition's log: its log start offset, and the offset after its last record."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What a batch may hold; None is no limit."""

    max_offsets: int | None = None
    max_bytes: int | None = None
    min_offsets: int | None = None
    max_delay_ms: int = MAX_TRIGGER_DELAY_MS


# ── the end of a batch ───────────────────────────────────────────────────────────────


def lags(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> Offsets:
    """How many offsets are to be read in each partition that has any; all have a start."""
    return {each: end[each] - start[each] for each in end if end[each] > start[each]}


def admit(
    start: Mapping[TopicPartition, int],
    end: Mapping[TopicPartition, int],
    limits: Limits,
    record_bytes: Mapping[TopicPartition, float] | None = None,
) -> Offsets:
    """Where a batch ends that starts at `start`, has `end` before it and keeps to the limits.

    Every partition that lags gets at least one offset, so that none starves; a limit is exceeded for that,
    by less than one for each. `record_bytes` is what a record takes, in each partition, as far as that is known.
    """
    shares = lag = lags(start, end)
    if limits.max_offsets is not None:
        shares = _share(lag, dict.fromkeys(lag, 1), limits.max_offsets)
    if limits.max_bytes is not None and record_bytes:
        by_bytes = _share(lag, record_bytes, limits.max_bytes)
        shares = {each: min(shares[each], by_bytes[each]) for each in lag}
    return {each: start[each] + shares[each] if each in shares else end[each] for each in end}


def _share(lag: Offsets, costs: Mapping[TopicPartition, float], allowed: int) -> Offsets:
    """Of each partition the same part, so that all cost what is allowed; in the numbers of Spark's own source."""
    total = sum(size * costs.get(each, 0) for each, size in lag.items())
    if total <= allowed:
        return lag
    return {each: max(1, int(allowed * (size / total))) for each, size in lag.items()}


def is_enough(
    start: Mapping[TopicPartition, int],
    end: Mapping[TopicPartition, int],
    limits: Limits,
    waited_ms: int | None,
) -> bool:
    """Whether there is enough for a batch, or the last one is long ago; None is not known, so long ago."""
    if limits.min_offsets is None or waited_ms is None or waited_ms >= limits.max_delay_ms:
        return True
    return sum(lags(start, end).values()) >= limits.min_offsets


# ── the ranges of a batch ────────────────────────────────────────────────────────────


class Ranges(NamedTuple):
    """What a batch reads, and what it can no longer read: a sentence for each loss."""

    ranges: list[Range]
    losses: list[str]


def ranges(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], logs: Mapping[TopicPartition, Log]
) -> Ranges:
    """The ranges between two offsets, by partition; those new in `end` begin where their log begins.

    `logs` has what is there now: of every partition that has something to read, unless it is gone.
    """
    found, losses = [], []
    gone = [each for each in start if each not in end]
    if gone:
        losses.append(f"{shown(gone)}: gone, with what was not read of it")
    for partition in sorted(end):
        log, until = logs.get(partition), end[partition]
        begin = start.get(partition, log.start if log else -1)
        if begin > until:
            losses.append(f"{partition}: was read up to offset {begin}, and its log ends at {until} now")
        elif log is None and begin < until:
            losses.append(f"{partition}: gone, before it was read up to offset {until}")
        elif log is not None:
            kept = Range(partition, min(max(begin, log.start), until), max(min(until, log.end), begin))
            losses += _cut_off(Range(partition, begin, until), kept, log)
            if kept.size > 0:
                found.append(kept)
    return Ranges(found, losses)


def _cut_off(wanted: Range, kept: Range, log: Log) -> list[str]:
    """A sentence for each loss at either end of a range."""
    told = []
    if wanted.start < kept.start:
        lost = f"offsets {wanted.start} to {kept.start - 1} are gone"
        told.append(f"{wanted.partition}: {lost}, its log starts at {log.start}")
    if wanted.end > kept.end:
        lost = f"offsets {kept.end} to {wanted.end - 1} are not there"
        told.append(f"{wanted.partition}: {lost}, its log ends at {log.end}")
    return told


def cut(whole: Iterable[Range], min_partitions: int | None, max_records: int | None) -> list[Range]:
    """The ranges as tasks: none longer than `max_records`, and at least `min_partitions` of them.

    The largest are cut first, and each into even pieces, so that no task is left with more than it must.
    """
    kept = [each for each in whole if each.size > 0]
    pieces = [-(-each.size // max_records) if max_records else 1 for each in kept]
    lacking = (min_partitions or 0) - sum(pieces)
    if lacking > 0:
        _cut_largest(kept, pieces, lacking)
    return [part for each, count in zip(kept, pieces, strict=True) for part in _even(each, count)]


def _cut_largest(whole: list[Range], pieces: list[int], lacking: int) -> None:
    """One piece more, again and again, for whichever range has the largest pieces."""
    heap = [(-each.size / pieces[i], i) for i, each in enumerate(whole) if each.size > pieces[i]]
    heapq.heapify(heap)
    while lacking and heap:
        _, i = heapq.heappop(heap)
        pieces[i] += 1
        lacking -= 1
        if whole[i].size > pieces[i]:
            heapq.heappush(heap, (-whole[i].size / pieces[i], i))


def _even(whole: Range, count: int) -> list[Range]:
    """A range in `count` pieces whose sizes differ by one at most."""
    edges = [whole.start + whole.size * i // count for i in range(count + 1)]
    return [Range(whole.partition, edges[i], edges[i + 1]) for i in range(count)]
