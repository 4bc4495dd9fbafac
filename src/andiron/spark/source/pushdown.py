"""What the filters of a batch read leave of it: fewer partitions, fewer offsets, a span of time.

    WHERE topic = 'orders' AND partition IN (1, 2) AND offset >= 1000 AND timestamp >= '2026-01-01'
          └── which partitions ──────────────────┘     └── where to begin ──────────────────────┘

A filter is *met* where no row gets through that it would stop; Spark then leaves it out. Otherwise it may
still narrow what is read, and Spark applies it to what comes.

The law: no row may be lost. The log finds the first record at or after a time, so everything before that
can be left unread. It cannot do the same at the other end, for writers' clocks differ, and behind the
first record that is too new there may be older ones. There the rows are dropped as they are read, before
Spark sees them. Who trusts the clocks says endingTimestamp, which does cut.

Read next: batch.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from andiron.model.ids import TopicPartition
from andiron.model.settings import MAX_LONG
from andiron.spark.source.plan import Range

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NEVER_NULL = ("topic", "partition", "offset", "timestamp", "timestampType")


class Span(NamedTuple):
    """Whole numbers from `start` up to, and not including, `end`."""

    start: int = -MAX_LONG
    end: int = MAX_LONG

    def overlap(self, other: Span) -> Span:
        """What lies in both."""
        return Span(max(self.start, other.start), min(self.end, other.end))


ALL = Span()


class Window(NamedTuple):
    """What is to be read. Times are in microseconds; None stands for any topic, and for any partition."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    numbers: Span = ALL  # of partitions
    offsets: Span = ALL
    times: Span = ALL

    def includes(self, partition: TopicPartition) -> bool:
        """Whether rows of this partition can be wanted."""
        name, number = partition
        return (
            (self.topics is None or name in self.topics)
            and (self.partitions is None or number in self.partitions)
            and self.numbers.start <= number < self.numbers.end
        )

    def clip(self, whole: Range) -> Range:
        """What is wanted of a range; it may be nothing."""
        start = min(max(whole.start, self.offsets.start), whole.end)
        return Range(whole.partition, start, max(start, min(whole.end, self.offsets.end)))

    @property
    def first_ms(self) -> int | None:
        """The first millisecond that is wanted; None for all since the beginning."""
        return None if self.times.start <= 0 else -(-self.times.start // 1000)


def push(window: Window, filters: Iterable[Filter]) -> tuple[Window, list[Filter]]:
    """Narrow a window by filters; returns those too which are left for Spark."""
    left = []
    for each in filters:
        window, is_met = _narrow(window, each)
        if not is_met:
            left.append(each)
    return window, left


def _narrow(window: Window, pushed: Filter) -> tuple[Window, bool]:
    """A window narrowed by one filter, and whether the filter is met."""
    match pushed:
        case IsNotNull((name,)):
            return window, name in NEVER_NULL
        case EqualTo(("topic",), str() as topic) | EqualNullSafe(("topic",), str() as topic):
            return _to_topics(window, (topic,))
        case In(("topic",), list() | tuple() as topics) if all(isinstance(each, str) for each in topics):
            return _to_topics(window, topics)
        case In((name,), list() | tuple() as values):
            return _to_numbers(window, name, [_number(name, each) for each in values])
        case EqualTo((name,), value) | EqualNullSafe((name,), value):
            return _to_numbers(window, name, [_number(name, value)])
        case GreaterThanOrEqual((name,), value):
            return _to_span(window, name, _number(name, value), MAX_LONG)
        case GreaterThan((name,), value):
            return _to_span(window, name, _after(_number(name, value)), MAX_LONG)
        case LessThan((name,), value):
            return _to_span(window, name, -MAX_LONG, _number(name, value))
        case LessThanOrEqual((name,), value):
            return _to_span(window, name, -MAX_LONG, _after(_number(name, value)))
    return window, False


def _to_topics(window: Window, topics: Iterable[str]) -> tuple[Window, bool]:
    wanted = frozenset(topics)
    return window._replace(topics=wanted if window.topics is None else wanted & window.topics), True


def _to_numbers(window: Window, name: str, numbers: list[int | None]) -> tuple[Window, bool]:
    """One of some values. Between the least and the greatest of them there may be others."""
    wanted = frozenset(each for each in numbers if each is not None)
    if not numbers or None in numbers:
        return window, False
    if name == "partition":
        both = wanted if window.partitions is None else wanted & window.partitions
        return window._replace(partitions=both), True
    narrowed, _ = _to_span(window, name, min(wanted), max(wanted) + 1)
    return narrowed, len(wanted) == 1


def _to_span(window: Window, name: str, start: int | None, end: int | None) -> tuple[Window, bool]:
    if start is None or end is None:
        return window, False
    span = Span(start, end)
    match name:
        case "partition":
            return window._replace(numbers=window.numbers.overlap(span)), True
        case "offset":
            return window._replace(offsets=window.offsets.overlap(span)), True
    return window._replace(times=window.times.overlap(span)), True


def _number(name: str, value: Any) -> int | None:
    """A value of a column that is understood, as a whole number; None for all others."""
    if name in ("offset", "partition"):
        return value if type(value) is int else None
    if name == "timestamp" and isinstance(value, datetime) and value.tzinfo is not None:
        return (value - EPOCH) // MICROSECOND
    return None


def _after(number: int | None) -> int | None:
    return None if number is None else number + 1
