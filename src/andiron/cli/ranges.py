"""From where to where: what --from and --to say, made into offsets of each partition.

    earliest ······· 500 ······· -10 ······ latest           '5m ago' and dates ask the broker
       start          an offset   end - 10   end

A point that lies outside a partition is moved to its nearer end: an offset that suits one partition of a
topic is often beyond another's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def positions(
    admin: Admin, partitions: Sequence[TopicPartition], start: Point, end: Point | None, *, follow: bool
) -> list[Position]:
    """Where a reader begins in each partition, and where it ends; nowhere if it is to follow."""
    bounds = Bounds(admin, partitions)
    begins = bounds.resolve(start)
    ends = None if end is None and follow else bounds.resolve(end or Point(time=LATEST), beyond=follow)
    return [Position(each, begins[each], None if ends is None else ends[each]) for each in partitions]


class Bounds:
    """The two ends of each partition, as they are now."""

    def __init__(self, admin: Admin, partitions: Sequence[TopicPartition]) -> None:
        self._admin, self._partitions = admin, partitions
        self.starts = self._offsets(EARLIEST)
        self.ends = self._offsets(LATEST)

    def resolve(self, point: Point, *, beyond: bool = False) -> dict[TopicPartition, int]:
        """The offset of a point in each partition; one `beyond` the end is kept where it may yet come."""
        times = self._offsets(point.time) if point.time is not None else {}
        found = {}
        for each in self._partitions:
            start, end = self.starts[each], self.ends[each]
            if point.offset is not None:
                offset = point.offset
            elif point.back is not None:
                offset = end - point.back
            else:
                offset = times[each] if times[each] >= 0 else end
            found[each] = max(start, offset if beyond else min(offset, end))
        return found

    def _offsets(self, time: int) -> dict[TopicPartition, int]:
        answers = self._admin.list_offsets(dict.fromkeys(self._partitions, time))
        return {partition: answer.offset for partition, answer in answers.items()}
