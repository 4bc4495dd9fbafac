"""Which segments go: the oldest, while a rule says so and everything in them is committed.

    │ segment │ segment │ segment │ active │
    ▲ goes?   ▲ goes?   …                  ▲ end
                            upto ▲ only segments wholly below it

Rules, in this order, each beginning where the one before stopped:

    start            nothing in it is at or beyond the log's start (DeleteRecords): under every policy
    retention.bytes  what remains without it is still at least that large
    retention.ms     its latest record is older than that

The last two count where cleanup.policy has delete. A segment goes whole or not at all, and none
before an older one, so one record from the future holds back all that came after it.

If even the active segment goes, the log must roll first: it never is without one, and the new one
remembers where the log ends.

Read next: partition_log.py, which carries the plan out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from andiron.log.settings import LogSettings
from andiron.model.ids import Millis, Offset
from andiron.model.settings import MAX_LONG


class RetainableSegment(Protocol):
    """What retention asks of a segment."""

    @property
    def base(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def max_timestamp(self) -> int: ...


class ExpiredSegment(NamedTuple):
    """A segment that is to go, and the rule that says so."""

    base: int
    rule: str


def plan_deletion(
    segments: Sequence[RetainableSegment],
    settings: LogSettings,
    *,
    start: Offset,
    end: Offset,
    upto: Offset,
    now: Millis,
) -> list[ExpiredSegment]:
    """The segments to delete, oldest first. `upto` is the high watermark; the last segment is active."""
    plan = _Plan(segments, end, upto)
    plan.go_on("start", lambda segment, following: following is not None and following.base <= start)
    if "delete" in settings.cleanup_policy:
        if settings.retention_bytes >= 0:
            excess = plan.bytes_left() - settings.retention_bytes
            plan.go_on("retention.bytes", lambda segment, _: plan.bytes_gone + segment.size <= excess)
        if settings.retention_ms >= 0:
            latest = now - settings.retention_ms
            plan.go_on("retention.ms", lambda *_: plan.time() < latest)
    return plan.expired


class _Plan:
    """How far down the segments the rules have come."""

    def __init__(self, segments: Sequence[RetainableSegment], end: Offset, upto: Offset) -> None:
        self.expired: list[ExpiredSegment] = []
        self.bytes_gone = 0  # by the rule at work
        self._segments, self._end, self._upto = segments, end, upto

    def time(self) -> int:
        """The latest of the next segment; without timestamps it is as old as what was written after it."""
        times = (segment.max_timestamp for segment in self._segments[len(self.expired) :])
        return next((time for time in times if time >= 0), MAX_LONG)

    def bytes_left(self) -> int:
        return sum(segment.size for segment in self._segments[len(self.expired) :])

    def go_on(
        self, rule: str, applies: Callable[[RetainableSegment, RetainableSegment | None], bool]
    ) -> None:
        """Take further segments while the rule applies to them."""
        self.bytes_gone = 0
        while len(self.expired) < len(self._segments):
            at = len(self.expired)
            segment = self._segments[at]
            following = self._segments[at + 1] if at + 1 < len(self._segments) else None
            is_empty_active = following is None and not segment.size
            committed = self._upto >= (self._end if following is None else following.base)
            if is_empty_active or not committed or not applies(segment, following):
                return
            self.bytes_gone += segment.size
            self.expired.append(ExpiredSegment(segment.base, rule))
