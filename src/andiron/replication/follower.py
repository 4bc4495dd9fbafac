"""The follower's side of replication: bring a log up to its leader's, and take back what the leader never had.

    position ─▶ Fetch(offset = my end, epoch of my last record) ─▶ leader
                                                                     │
    records          append them, as they are        ◀───────────────┤
    diverging epoch  truncate to where we still agreed, fetch again ◀┤
    out of range     ask where its log begins and ends, go there   ◀─┘

A fetch names the epoch of the follower's last record. If the leader's log has another record there, it says so at
once, with the newest epoch up to the follower's that it knows and where that epoch ended (KIP-320, KIP-595). What the
follower has beyond that was never committed. It must not go by the watermark instead: a follower that was leader
last may know an older watermark than records that were acknowledged since, and would cut these off.

The follower's watermark is the leader's, as far as its own log goes. Consumers may read here up to it (KIP-392), and
if this follower leads next, it begins with it.

Read next: leader.py, which sees the fetches; log/leader_epochs.py, where two logs part.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_EPOCH, LeaderEpoch, Millis, Offset
from andiron.model.invariant import invariant

BASE_OFFSET_BYTES = 8  # with which every batch begins


class Epochs(Protocol):
    """Which leader wrote from where on (log/leader_epochs.py)."""

    latest: LeaderEpoch

    def end_of(self, epoch: int, log_end: Offset) -> tuple[LeaderEpoch, Offset]:
        """The largest epoch here that is not above `epoch`, and where it ended; both -1 if none is known."""


class FollowedLog(Protocol):
    """The part of a log that a follower needs (log/partition_log.py)."""

    @property
    def start(self) -> Offset: ...

    @property
    def end(self) -> Offset: ...

    @property
    def epochs(self) -> Epochs: ...

    def append_replicated(self, records: bytes | memoryview, now: Millis) -> Offset: ...

    def truncate(self, offset: Offset, now: Millis) -> Offset: ...

    def restart_at(self, offset: Offset, now: Millis) -> None: ...

    def advance_start(self, offset: Offset) -> None: ...


class Position(NamedTuple):
    """What the next fetch says of this log."""

    offset: Offset
    last_epoch: LeaderEpoch
    log_start: Offset


class FetchPartitionData(NamedTuple):
    """A leader's answer for one partition."""

    error: ErrorCode = ErrorCode.NONE
    records: bytes | memoryview = b""
    watermark: Offset = Offset(0)
    log_start: Offset = Offset(0)
    diverging: tuple[LeaderEpoch, Offset] | None = None


class Next(Enum):
    """What to do after an answer."""

    FETCH = "fetch"
    ASK_OFFSETS = "ask the leader where its log begins and ends"
    PAUSE = "fetch again a little later, or when the metadata says something new"


class FollowerReplica:
    """One partition's log, as its follower brings it up for the span of one leader epoch."""

    __slots__ = ("_log", "leader_watermark", "watermark")

    def __init__(self, log: FollowedLog, watermark: Offset) -> None:
        self._log = log
        self.watermark = Offset(min(watermark, log.end))
        self.leader_watermark = Offset(0)  # as of its last answer, however far this log goes

    @property
    def lag(self) -> int:
        """How many committed records are still missing here."""
        return max(0, self.leader_watermark - self._log.end)

    def position(self) -> Position:
        """From where to fetch."""
        log = self._log
        return Position(log.end, log.epochs.latest, log.start)

    def take(self, fetched: FetchPartitionData, now: Millis) -> Next:
        """Take in an answer to a fetch from `position`."""
        if fetched.error is ErrorCode.OFFSET_OUT_OF_RANGE:
            return Next.ASK_OFFSETS
        if fetched.error is not ErrorCode.NONE:
            return Next.PAUSE
        if fetched.diverging is not None:
            self._cut(self._agreed(*fetched.diverging), now)
            return Next.FETCH
        self.leader_watermark = fetched.watermark
        if len(fetched.records):
            self._append(fetched.records, fetched.log_start, now)
        if fetched.log_start > self._log.start:
            self._log.advance_start(min(fetched.log_start, self._log.end))
        self.watermark = max(self.watermark, min(fetched.watermark, self._log.end))
        return Next.FETCH

    def go_to(self, leader_start: Offset, leader_end: Offset, now: Millis) -> None:
        """The leader's log does not have the end of this one: it has less, or has deleted what would come next."""
        if leader_end < self._log.end:
            self._cut(leader_end, now)
        else:
            self._restart(leader_start, now)

    def _agreed(self, epoch: LeaderEpoch, end: Offset) -> Offset:
        """Up to where both logs can be the same, the leader's `epoch` having ended at `end`."""
        mine, my_end = self._log.epochs.end_of(epoch, self._log.end)
        if mine == NO_EPOCH:
            return end
        # Where it is of an epoch that the leader may not know either, the leader will say so.
        return min(my_end, end) if mine == epoch else my_end

    def _append(self, records: bytes | memoryview, leader_start: Offset, now: Millis) -> None:
        """Batches come whole: one that the leader's log starts in the middle of may begin before this log's end."""
        log, base = self._log, Offset(int.from_bytes(records[:BASE_OFFSET_BYTES], "big"))
        if base < log.end and (log.start == log.end or log.end <= leader_start):
            self._restart(base, now)  # nothing is here, or nothing of it is there any more
        end = log.end
        log.append_replicated(records, now)
        invariant(
            log.end >= end >= self.watermark, "a log that is appended to grows", log.end, end, self.watermark
        )

    def _cut(self, offset: Offset, now: Millis) -> None:
        self.watermark = min(self.watermark, offset)
        if offset < self._log.start:
            self._log.restart_at(offset, now)
        else:
            self._log.truncate(offset, now)
        self.watermark = min(self.watermark, self._log.end)
        invariant(self._log.end <= offset, "what was truncated is gone", self._log.end, offset)

    def _restart(self, offset: Offset, now: Millis) -> None:
        """Begin again at `offset`, with nothing.

        The watermark goes down first, and up only with the log: the disk may refuse any part of this, or the records
        that were to come next, and whatever is there then must not end below what it calls committed.
        """
        self.watermark = min(self.watermark, offset)
        self._log.restart_at(offset, now)
        self.watermark = offset
