"""The account of a cell: what was acknowledged beside what is there, and how long nothing was acknowledged at all.

    lost         acknowledged, and not there                       the data-loss window: from the first to the last
    duplicated   there more than once: sent again, for want of an answer
    reordered    of one writer, behind a record with a higher number
    surprising   there, though its writer had given it up

All of it is arithmetic on two lists; nothing here knows a clock or a socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from andiron.chaos.records import FoundRecord, SentRecord


class Account(NamedTuple):
    """What came of the records of a cell."""

    sent: int
    acked: int
    found: int
    lost: list[SentRecord]
    duplicated: list[FoundRecord]  # every copy but the first
    reordered: list[FoundRecord]
    surprising: int

    @property
    def loss_window(self) -> tuple[float, float] | None:
        """When the first and the last of the lost were acknowledged."""
        times = [each.acked_at for each in self.lost if each.acked_at is not None]
        return (min(times), max(times)) if times else None


class Latency(NamedTuple):
    """How long acknowledgements took, in milliseconds."""

    records: int
    p50: float
    p99: float
    most: float


class Silence(NamedTuple):
    """A time in which no write was accepted."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def settle(sent: Sequence[SentRecord], found: Sequence[FoundRecord]) -> Account:
    """Hold what was told against what is there."""
    copies = Counter(each.name for each in found)
    acked = [each for each in sent if each.acked_at is not None]
    given_up = {each.name for each in sent if each.acked_at is None}
    return Account(
        sent=len(sent),
        acked=len(acked),
        found=len(found),
        lost=[each for each in acked if each.name not in copies],
        duplicated=_again(found),
        reordered=_behind(found),
        surprising=sum(name in copies for name in given_up),
    )


def _again(found: Iterable[FoundRecord]) -> list[FoundRecord]:
    seen: dict[tuple[int, int], None] = {}
    again = []
    for each in found:
        if each.name in seen:
            again.append(each)
        seen[each.name] = None
    return again


def _behind(found: Iterable[FoundRecord]) -> list[FoundRecord]:
    """Records that lie behind a higher number of their writer, second copies aside."""
    highest: dict[int, int] = {}
    seen: dict[tuple[int, int], None] = {}
    behind = []
    for each in found:
        if each.name not in seen and each.number < highest.get(each.writer, -1):
            behind.append(each)
        seen[each.name] = None
        highest[each.writer] = max(highest.get(each.writer, -1), each.number)
    return behind


def latency(sent: Iterable[SentRecord], begin: float, end: float) -> Latency | None:
    """Of the records that were acknowledged in a span of time; None if none was."""
    took = sorted(
        1000 * (each.acked_at - each.sent_at)
        for each in sent
        if each.acked_at is not None and begin <= each.acked_at < end
    )
    if not took:
        return None
    return Latency(len(took), quantile(took, 0.5), quantile(took, 0.99), took[-1])


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of them lies."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def silences(sent: Iterable[SentRecord], begin: float, end: float, least: float) -> list[Silence]:
    """The times of at least so many seconds without an acknowledgement, in a span of time."""
    acks = sorted(each.acked_at for each in sent if each.acked_at is not None)
    inside = [begin, *(at for at in acks if begin <= at <= end), end]
    return [Silence(before, after) for before, after in pairwise(inside) if after - before >= least]


def longest(found: Sequence[Silence]) -> Silence | None:
    """The longest of them."""
    return max(found, key=lambda each: each.seconds, default=None)
