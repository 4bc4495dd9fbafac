"""What the loop counts about itself: how busy it is, and how long requests take.

    poll ─────▶ begins ── frames, replies, sends ──▶ ends ──▶ poll
      idle                      busy
                 ▲ received here                    ▲ answered here: all replies of a turn leave at its end

For this the clock is read twice a turn, however many requests there are in it. A request that is answered in its turn
took as long as that turn, so it is only counted (`of_turn`), and all of a kind get their time together at the turn's
end. Only those that are kept waiting are remembered one by one, with the turn in which they came; they have a second
histogram with the wait alone.

The kind of a request is the second byte of its frame, the low one of its API key; no key needs the first. Fetches of
followers are a kind of their own, as in Kafka: they wait for records most of the time, and replication for them.

The disk is timed where it is used (`DiskTimes`): every fsync, in the thread that makes it, and one in so many of
the reads and writes, which the loop makes.

Read next: connection.py, which counts; catalog.py, which publishes.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

KINDS = 258
NO_KIND = 256  # of a frame that is too short to be a request
FETCH, FOLLOWER_FETCH = 1, 257

# Seconds, up to and including: what Prometheus calls `le`.
BOUNDS = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
)  # fmt: skip
Came = tuple[int, float]  # a request's kind, and when the turn began in which it came
ONE_IN = 17  # reads or writes is timed; a prime, so that what alternates is met in all its parts
RATIO_S = 10.0  # the least time that a ratio is taken over, if there has been as much


class Histogram:
    """How many took how long."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float] = BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # the last: longer than all bounds
        self.sum = 0.0

    def add(self, seconds: float, count: int = 1) -> None:
        """So many took so long."""
        self.counts[bisect_left(self.bounds, seconds)] += count
        self.sum += seconds * count


class SampledTimes:
    """How long one in so many took. Whoever does the work counts `left` down, and asks for the time at 0:

    times.left -= 1
    began = 0.0 if times.left else times.begins()
    ...
    if began:
        times.ends(began)
    """

    __slots__ = ("_clock", "histogram", "left")

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.histogram = Histogram()
        self.left = 1  # the first is timed

    def begins(self) -> float:
        """It is this one's turn to be timed."""
        self.left = ONE_IN
        return self._clock()

    def ends(self, began: float) -> None:
        """It is done."""
        self.histogram.add(self._clock() - began)


class DiskTimes:
    """How long the disk takes."""

    __slots__ = ("reads", "syncs", "writes")

    def __init__(self) -> None:
        self.reads, self.writes = SampledTimes(), SampledTimes()
        self.syncs = Histogram()


class Meter:
    """The counters of one loop."""

    __slots__ = (
        "_before", "_flushing", "_longest_s", "_marks", "began", "busy_s", "clock", "disk", "durations", "ended",
        "flushes", "followers", "idle_s", "kinds", "late", "of_turn", "started", "turns", "waits",
    )  # fmt: skip

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.started = self.began = self.ended = clock()
        self.idle_s = self.busy_s = 0.0
        self.turns = 0
        self.of_turn = [0] * KINDS  # requests by kind that came in this turn and were answered in it
        self.kinds: list[int] = []  # those of which there were any
        self.late: list[Came] = []  # answered in this turn, and come in an earlier one
        self.durations: dict[int, Histogram] = {}
        self.waits: dict[int, Histogram] = {}
        self.flushes = Histogram()
        self.disk = DiskTimes()
        self.followers: Collection[int] = ()  # connections on which followers fetch, as the node knows
        self._flushing: dict[int, float] = {}
        self._longest_s = 0.0  # of the turns since it was last asked for
        self._before = 0.0, self.began  # and of those before, up to when
        self._marks = [(self.began, 0.0)] * 2  # at the last two askings: when, and how long it had been idle

    # ── a turn ───────────────────────────────────────────────────────────────────────

    def turn_begins(self) -> None:
        """The poll is over."""
        self.began = began = self.clock()
        self.idle_s += began - self.ended

    def turn_ends(self) -> None:
        """Everything that was due has been sent."""
        self.ended = ended = self.clock()
        took = ended - self.began
        self.busy_s += took
        self.turns += 1
        self._longest_s = max(self._longest_s, took)
        if self.kinds:
            self._settle(took)
        if self.late:
            self._settle_late(ended)

    def _settle(self, took: float) -> None:
        of_turn, durations, place = self.of_turn, self.durations, bisect_left(BOUNDS, took)
        for kind in self.kinds:
            if kind not in durations:
                durations[kind] = Histogram()
            histogram, count = durations[kind], of_turn[kind]
            histogram.counts[place] += count
            histogram.sum += took * count
            of_turn[kind] = 0
        self.kinds.clear()

    def _settle_late(self, ended: float) -> None:
        for kind, came in self.late:
            self.durations.setdefault(kind, Histogram()).add(ended - came)
            self.waits.setdefault(kind, Histogram()).add(self.began - came)
        self.late.clear()

    # ── flushes ──────────────────────────────────────────────────────────────────────

    def flush_begins(self, token: int) -> None:
        """An fsync has been asked for."""
        self._flushing[token] = self.clock()

    def flush_ends(self, token: int) -> None:
        """It is done."""
        began = self._flushing.pop(token, None)
        if began is not None:
            self.flushes.add(self.clock() - began)

    # ── asking ───────────────────────────────────────────────────────────────────────

    @property
    def uptime_s(self) -> float:
        """Since it was made."""
        return self.clock() - self.started

    def longest_turn_s(self) -> float:
        """The longest turn since it was last asked, and over some seconds at least: for so long nobody was served."""
        now, (before, since) = self.clock(), self._before
        longest = max(before, self._longest_s)
        if now - since >= RATIO_S:
            self._before, self._longest_s = (self._longest_s, now), 0.0
        return longest

    def idle_ratio(self) -> float:
        """How much of its time the loop has spent in polls since it was last asked, and over some seconds at least."""
        now, idle = self.clock(), self.idle_s
        older, newer = self._marks
        if now - newer[0] >= RATIO_S:
            older = newer
            self._marks = [newer, (now, idle)]
        since, idle_then = older
        return 1.0 if now <= since else min(1.0, (idle - idle_then) / (now - since))
