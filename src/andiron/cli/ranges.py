"""The ranges of `consume`: what --from and --to say, as offsets of each partition.

    earliest ······· 500 ······· -10 ······ latest           '5m ago' and dates ask the broker
       start          an offset   end - 10   end

A point that lies outside a partition is moved to its nearer end: an offset that suits one partition of a
topic is often beyond another's. For a reader of committed records a partition ends before the first transaction that
is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from andiron.cli.times import TimeError, parse_time
from andiron.client.blocking.admin import Admin
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.positions import Position
from andiron.model.ids import TopicPartition

_WORDS = {"earliest": EARLIEST, "beginning": EARLIEST, "latest": LATEST, "end": LATEST}
_NUMBER = re.compile(r"[+-]?\d+")


class Point(NamedTuple):
    """A place in a log: one of these is set."""

    offset: int | None = None
    back: int | None = None  # so many records before the end
    time: int | None = None  # ms, or EARLIEST or LATEST


class PointError(ValueError):
    """Text that names no place."""


def parse_point(text: str, now_ms: int) -> Point:
    """What --from and --to take."""
    text = text.strip()
    if text.lower() in _WORDS:
        return Point(time=_WORDS[text.lower()])
    if _NUMBER.fullmatch(text):
        number = int(text)
        return Point(back=-number) if text.startswith("-") else Point(offset=number)
    try:
        return Point(time=parse_time(text, now_ms))
    except TimeError as error:
        raise PointError(f"{error}; nor is it earliest, latest, an offset, or -N from the end") from error


def positions(bounds: Bounds, start: Point, end: Point | None, *, follow: bool) -> list[Position]:
    """The reader's start and end offset in each partition; no end if it is to follow."""
    begins = bounds.resolve(start)
    ends = None if end is None and follow else bounds.resolve(end or Point(time=LATEST), beyond=follow)
    return [Position(each, begins[each], None if ends is None else ends[each]) for each in bounds.partitions]


def before_open_transactions(bounds: Bounds, places: Iterable[Position]) -> list[TopicPartition]:
    """The partitions in which a reader stops before an open transaction, and not where it was told to."""
    return [
        each.partition
        for each in places
        if bounds.written[each.partition] > bounds.ends[each.partition]
        and (each.end is None or each.end >= bounds.ends[each.partition])
    ]


class Bounds:
    """The two ends of each partition, as they are now; `written` is where the log ends, whoever may read that far."""

    def __init__(self, admin: Admin, partitions: Sequence[TopicPartition], *, committed: bool) -> None:
        self._admin, self.partitions, self._committed = admin, partitions, committed
        self.starts = self._offsets(EARLIEST)
        # The end of the log first: what lies between the two is then behind a transaction that is open.
        self.written = self._offsets(LATEST, committed=False)
        self.ends = self._offsets(LATEST) if committed else self.written

    def resolve(self, point: Point, *, beyond: bool = False) -> dict[TopicPartition, int]:
        """The offset of a point in each partition; one `beyond` the end is kept where it may yet come."""
        times = self._offsets(point.time) if point.time is not None else {}
        found = {}
        for each in self.partitions:
            start, end = self.starts[each], self.ends[each]
            if point.offset is not None:
                offset = point.offset
            elif point.back is not None:
                offset = end - point.back
            else:
                offset = times[each] if times[each] >= 0 else end
            found[each] = max(start, offset if beyond else min(offset, end))
        return found

    def _offsets(self, time: int, *, committed: bool | None = None) -> dict[TopicPartition, int]:
        isolated = self._committed if committed is None else committed
        answers = self._admin.list_offsets(dict.fromkeys(self.partitions, time), committed=isolated)
        return {partition: answer.offset for partition, answer in answers.items()}
