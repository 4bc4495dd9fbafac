"""The leader's side of replication: who holds what, and what is committed.

A leader hears of its followers only through their fetches: a fetch at offset N says "I
hold everything below N". From these reports follow the in-sync replicas (ISR) and the
high watermark, below which no record can be lost while one member of the ISR lives.

    log start ·········· high watermark ·········· end
              committed                 in flight

A follower that is at the end is caught up for as long as it goes on fetching from this node at all: of a partition
where nothing happens it says nothing (`heard` has when each was last heard of).

A proposed ISR counts from the moment it is proposed, not from when the controller
confirms it: the watermark waits for the union of both, so that whichever of the two the
controller keeps, it holds every committed record.

What the leader itself holds is its end, or, where a log promises more than the page
cache (`durable`: the metadata log, and topics with flush.messages=1), what is on disk.

While fewer are in sync than min.insync.replicas asks for, the watermark stands still (KIP-966): what is not yet
committed then never will have been by too few.

Every append of every partition comes through `appended`, so the methods answer with a
plain bool, "the watermark has moved", and a partition without followers costs two
comparisons.

Read next: commit_rule.py, then broker/replicas/partition.py, which owns one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, Millis, NodeId, Offset
from andiron.model.invariant import invariant
from andiron.replication.commit_rule import NOTHING, CommitTerms

SILENCE = 10  # the part of replica.lag.time.max.ms for which one that has everything may say nothing


@dataclass(slots=True)
class Progress:
    """What one follower has shown of itself."""

    offset: Offset
    caught_up_at: Millis
    fetched_at: Millis
    end_when_fetched: Offset
    start: Offset = NOTHING
    broker_epoch: int = -1  # of the life in which it fetched


class LeaderAndIsr(NamedTuple):
    """What the controller says of a partition: who leads it and since which leader epoch, who has replicas, and who of
    them is in sync."""

    leader: NodeId
    leader_epoch: LeaderEpoch
    replicas: frozenset[NodeId]
    isr: frozenset[NodeId]


class LogOffsets(NamedTuple):
    """How far a leader's own log goes as it begins to lead, how far it is on the disk, and how far it is known to be
    committed."""

    end: Offset
    flushed_end: Offset
    watermark: Offset


class LeaderReplica:
    """One partition's replicas, as its leader sees them for the span of one leader epoch."""

    __slots__ = (
        "_heard", "_lag_ms_max", "_me", "_progress", "durable", "end", "epoch_start", "flushed_end", "isr", "least",
        "proposed", "rule", "watermark",
    )  # fmt: skip

    def __init__(
        self, state: LeaderAndIsr, offsets: LogOffsets, terms: CommitTerms, *, lag_ms_max: int, now: Millis,
        heard: Mapping[NodeId, Millis] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        me, _, replicas, isr = state
        end, flushed_end, watermark = offsets
        invariant(
            me in isr <= replicas, "a leader is in its ISR, and that among the replicas", me, isr, replicas
        )
        invariant(watermark <= end, "the high watermark is not above the log end offset", watermark, end)
        self.isr = self.proposed = isr
        self.end, self.flushed_end, self.watermark = end, flushed_end, watermark
        self.epoch_start = end  # what earlier leaders wrote ends here
        self.rule, self.durable, self.least = terms  # another rule where other voters count
        self._me, self._lag_ms_max, self._heard = me, lag_ms_max, heard
        # A new leader gives the in-sync a full lag's grace; the rest must show themselves first.
        self._progress = {
            replica: Progress(
                offset=Offset(0),
                caught_up_at=now if replica in isr else Millis(now - lag_ms_max),
                fetched_at=now,
                end_when_fetched=end,
            )
            for replica in sorted(replicas - {me})
        }

    def appended(self, end: Offset) -> bool:
        """The leader's own log now ends at `end`."""
        if end < self.end:
            invariant(False, "a leader never truncates its own log", end, self.end)
        if self._progress:
            for replica, seen in self._progress.items():
                seen.caught_up_at = self._caught_up_at(replica, seen)
        self.end = end
        return not self.durable and self._advance(end)

    def flushed(self, end: Offset) -> bool:
        """The leader's own log is on disk up to `end`."""
        self.flushed_end = max(self.flushed_end, end)
        return self.durable and self._advance(self.flushed_end)

    def fetched(
        self,
        replica: NodeId,
        offset: Offset,
        now: Millis,
        *,
        start: Offset = Offset(0),
        broker_epoch: int = -1,
    ) -> bool:
        """`replica`, whose log begins at `start`, asked for records from `offset` on."""
        self.check_replica(replica)
        seen = self._progress[replica]
        if broker_epoch < seen.broker_epoch:
            return False  # of an earlier life of that broker, and late
        if broker_epoch == seen.broker_epoch >= 0 and offset < seen.offset:
            return False  # late too: in one life, under one leader, a log only grows
        if offset >= self.end:
            seen.caught_up_at = now
        elif offset >= seen.end_when_fetched:
            # Under steady load a healthy follower never reaches a moving end; it has
            # caught up once it reaches the end as of its previous fetch.
            seen.caught_up_at = seen.fetched_at
        seen.offset, seen.fetched_at, seen.end_when_fetched = offset, now, self.end
        seen.start, seen.broker_epoch = start, broker_epoch
        return self._advance(self.held)

    def check_replica(self, replica: NodeId) -> None:
        """Who is to be a replica may know of it before the leader does; it has to ask again, and is counted then."""
        if replica not in self._progress:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"node {replica} holds no replica of it")

    def confirmed(self, isr: frozenset[NodeId]) -> bool:
        """The controller has settled on `isr`."""
        invariant(isr - {self._me} <= self._progress.keys(), "the ISR is among the replicas", isr)
        self.isr = self.proposed = isr
        return self._advance(self.held)

    def withdraw(self) -> None:
        """The controller would not have what was proposed."""
        self.proposed = self.isr

    def reassigned(self, replicas: frozenset[NodeId], now: Millis) -> None:
        """The replicas are others from now on; new ones must show themselves before they count."""
        late = Millis(now - self._lag_ms_max)
        self._progress = {
            replica: self._progress.get(replica) or Progress(Offset(0), late, now, self.end)
            for replica in sorted(replicas - {self._me})
        }

    def require(self, *, durable: bool, least: int) -> bool:
        """Whether what the leader itself holds counts as soon as it is written, or on its disk only; and how many
        have to be in sync for anything to count."""
        self.durable, self.least = durable, least
        return self._advance(self.held)

    def propose(
        self, now: Millis, may_join: Callable[[NodeId], bool] = lambda replica: True
    ) -> frozenset[NodeId] | None:
        """The ISR the controller should adopt, if it is not the one we have; one proposal at a time."""
        if self.proposed != self.isr:
            return None
        wanted = frozenset({self._me}) | {
            replica
            for replica, seen in self._progress.items()
            if now - self._caught_up_at(replica, seen) < self._lag_ms_max
            and (
                replica in self.isr
                or (seen.offset >= max(self.watermark, self.epoch_start) and may_join(replica))
            )
        }
        if wanted == self.isr:
            return None
        self.proposed = wanted
        return wanted

    def has_caught_up(self, replica: NodeId) -> bool:
        """Whether a follower that is out of sync has come as far as the in-sync ones: it may join them."""
        return (
            replica not in self.isr
            and self.proposed == self.isr
            and self._progress[replica].offset >= max(self.watermark, self.epoch_start)
        )

    def progress(self) -> dict[NodeId, Progress]:
        """What each follower has shown of itself."""
        return self._progress

    def behind_ms(self, replica: NodeId, now: Millis) -> int:
        """Since when a follower has not been caught up. One that has all there is, and goes on fetching, is not behind,
        however long ago the last record was; one that has fallen silent is, whether or not there was anything to say.
        """
        silent_ms = now - self._caught_up_at(replica, self._progress[replica])
        if self._progress[replica].offset >= self.end and silent_ms < self._lag_ms_max // SILENCE:
            return 0
        return max(0, silent_ms)

    def start_of(self, replica: NodeId) -> Offset:
        """Where a follower's log begins, as far as it has said so."""
        seen = self._progress.get(replica)
        return NOTHING if seen is None else seen.start

    def low_watermark(self, own_start: Offset, is_live: Callable[[NodeId], bool]) -> Offset:
        """What no live replica has any more: the lowest of their logs' starts."""
        starts = [seen.start for node, seen in self._progress.items() if is_live(node)]
        return min([own_start, *starts])

    @property
    def alone(self) -> bool:
        """Whether nobody else has to hold a record before it counts."""
        return not self._progress

    def enough_in_sync(self, least: int) -> bool:
        """May acks=all be taken on? min.insync.replicas asks for no more replicas than there are."""
        in_sync = len(self.isr)
        return in_sync >= least or in_sync > len(self._progress)

    @property
    def knows_committed(self) -> bool:
        """Whether it has heard from its followers how far its log is committed; just after it began it may know of less
        than its predecessor did (KIP-207)."""
        return self.watermark >= self.epoch_start

    def can_tell(self, offset: Offset) -> bool:
        """Whether it can be said that there is something committed at `offset`, or that there is not."""
        return self.knows_committed or offset < self.watermark or offset > self.end

    @property
    def held(self) -> Offset:
        """The end of what the leader itself can vouch for."""
        return self.flushed_end if self.durable else self.end

    def _caught_up_at(self, replica: NodeId, seen: Progress) -> Millis:
        if seen.offset < self.end:
            return seen.caught_up_at
        return max(seen.caught_up_at, self._heard.get(replica, seen.caught_up_at))

    def _advance(self, held: Offset) -> bool:
        committed = held if not self._progress else self._committed(held)
        if committed <= self.watermark:
            return False
        self.watermark = committed
        return True

    def _committed(self, held: Offset) -> Offset:
        if not self.enough_in_sync(self.least):
            return self.watermark
        members = (self.isr | self.proposed) - {self._me}
        return self.rule([held, *(self._progress[m].offset for m in sorted(members))])
