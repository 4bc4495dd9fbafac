"""Which log to compact next, and how much of it: cheap arithmetic over segments.

    │ segment │ segment │ segment │ segment │ segment │ active │
    ├──── clean ────────┼──── dirty ────────┼── not yet ───────┤
                        ▲ first dirty       ▲ first uncleanable

Below the first dirty offset every key is there once, as an earlier round left it. What may not be
cleaned yet: the active segment, anything at or after the last stable offset (an open transaction may
still be aborted), and segments with a record younger than min.compaction.lag.ms.

A log is due when the dirty share of what can be cleaned is above min.cleanable.dirty.ratio, or when a
record has waited for longer than max.compaction.lag.ms; the one with the largest share goes first.

Read next: compaction.py, which does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from andiron.log.settings import LogSettings
from andiron.model.ids import Millis, Offset
from andiron.model.settings import MAX_LONG

T = TypeVar("T")


class CleanableSegment(Protocol):
    """What planning asks of a segment."""

    @property
    def base(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def max_timestamp(self) -> int: ...

    @property
    def first_timestamp(self) -> int: ...


class LogToClean(NamedTuple):
    """How much of a log is clean, and what a round of cleaning would cover."""

    first_dirty: Offset
    first_uncleanable: Offset  # the base of a segment
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, settings: LogSettings) -> bool:
        return self.dirty_ratio > settings.min_cleanable_dirty_ratio or (
            self.is_overdue and self.dirty_bytes > 0
        )


def first_dirty_offset(start: Offset, end: Offset, cleaned_upto: Offset | None) -> Offset:
    """The cleaner's checkpoint of a log, unless that was cut since, at either end: then it says nothing any more."""
    return cleaned_upto if cleaned_upto is not None and start <= cleaned_upto <= end else start


def plan_cleaning(
    segments: Sequence[CleanableSegment],
    settings: LogSettings,
    *,
    first_dirty: Offset,
    last_stable: Offset,
    now: Millis,
) -> LogToClean:
    """One log's share, from its first dirty offset on; the last of `segments` is active."""
    sealed = segments[:-1]
    dirty = sealed[_holder(segments, first_dirty) :]
    uncleanable = min(last_stable, _too_young(dirty, settings, now))
    # Whole segments only: the one that holds the offset is not cleaned, and it is the active one at the latest.
    first_uncleanable = segments[_holder(segments, uncleanable)].base
    return LogToClean(
        first_dirty,
        Offset(first_uncleanable),
        sum(segment.size for segment in sealed if segment.base < min(first_dirty, first_uncleanable)),
        sum(segment.size for segment in dirty if segment.base < first_uncleanable),
        _is_overdue(dirty, settings, now),
    )


def pick_dirtiest(logs: Iterable[tuple[T, LogToClean]]) -> tuple[T, LogToClean] | None:
    """The log with the largest dirty share; None if there is none."""
    return max(logs, key=lambda log: log[1].dirty_ratio, default=None)


def _holder(segments: Sequence[CleanableSegment], offset: int) -> int:
    """The number of the last segment that begins at `offset` or before; 0 if none does."""
    for number in range(len(segments) - 1, 0, -1):
        if segments[number].base <= offset:
            return number
    return 0


def _too_young(dirty: Sequence[CleanableSegment], settings: LogSettings, now: Millis) -> int:
    """Where records begin that min.compaction.lag.ms protects."""
    if settings.min_compaction_lag_ms > 0:
        for segment in dirty:
            if segment.max_timestamp > now - settings.min_compaction_lag_ms:
                return segment.base
    return MAX_LONG


def _is_overdue(dirty: Sequence[CleanableSegment], settings: LogSettings, now: Millis) -> bool:
    """Has a record waited for compaction for longer than max.compaction.lag.ms?"""
    if settings.max_compaction_lag_ms == MAX_LONG:
        return False
    return any(0 < segment.first_timestamp < now - settings.max_compaction_lag_ms for segment in dirty)
