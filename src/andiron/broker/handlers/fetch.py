"""Fetch (key 1), versions 4-18: records from partitions, as slices of their files.

Answers at once when `min_bytes` are there or something went wrong, else waits up to
`max_wait_ms` for one of its partitions to move (a long poll). What a consumer may see
ends at the high watermark, or for read_committed at the last stable offset. The first
partition with records gives at least one whole batch, however large; the rest share what
is left of `max_bytes`. Records are never read here: the answer carries FileSlices, and
the edge sends them from the page cache.

A follower fetches as a consumer does, and sees everything up to the end. What it asks for tells what it holds, and
that counts (replication/leader.py) before it is served, unless its log parts from this one: then it is told where.
One that the metadata log does not reach any more is told of a snapshot instead.
Consumers may read from followers too (KIP-392), up to the watermark that is known there. A leader that has just begun
may not know how far its log is committed: who asks for what comes then waits, and is told OFFSET_NOT_AVAILABLE, as by
ListOffsets, where Kafka tells an earlier watermark; consumers ask again.

`handle` makes a `Fetch` of each request, with the `Replica` that asks if a follower does.

Version 7 brings sessions (fetch_sessions.py), 13 topic ids for names, 16 tells who leads instead (leader_hints.py).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from andiron.broker.broker import Broker
from andiron.broker.metadata.quorum_messages import TOPIC_ID as METADATA_TOPIC_ID
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.fetch_sessions import (
    UNTOLD,
    CachedPartition,
    FetchSession,
    distinct_partitions_of,
    partitions_of,
)
from andiron.broker.replicas.follower_states import FollowerFetch
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.replicas.log_read_result import LogReadResult, standing
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.preferred_read_replica import HERE, is_rack_aware, nearest
from andiron.broker.replicas.replication_quota import is_throttled
from andiron.broker.settings.listeners import Scope
from andiron.broker.telemetry.traffic import count
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import LeaderEpoch, Millis, NodeId, Offset
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    SnapshotId,
)

API = ApiKey.FETCH
SERVED = ADVERTISED = (4, 18)
SCOPE = Scope.BOTH

READ_COMMITTED = 1
SLICE = 500  # partitions that are looked at in one go
FROM_FOLLOWERS_SINCE = 11  # the version whose consumers can be sent to the nearest replica


class Replica(NamedTuple):
    """A follower that fetches, and in which of its lives."""

    id: NodeId
    broker_epoch: int


Answer: TypeAlias = FetchResponse | Wait


def handle(broker: Broker, request: Request[FetchRequest]) -> Answer | InSlices[Answer]:
    body = request.body
    if body.cluster_id not in (None, broker.cluster_id):
        return FetchResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID.number)
    try:
        session = broker.fetch_sessions.enter(body, request.version, request.now)
    except ProtocolError as error:
        return FetchResponse(error_code=error.code.number)
    if session is not None:
        session.is_replicas = _replica(body) is not None
        broker.step.touch(session)  # an earlier fetch of the session waits no longer
    fetch = Fetch(broker, request, session)
    if fetch.is_long:
        return _at_length(fetch, request)
    fetch.note_progress(request.now)
    if body.max_wait_ms <= 0 or not fetch.asked or fetch.is_enough():
        return fetch.response()
    fetch.begin_to_wait()
    return _wait(fetch, request)


def _at_length(fetch: Fetch, request: Request[FetchRequest]) -> InSlices[Answer]:
    """The same for thousands of partitions. Where some have moved since, it looks at all again before it waits."""
    now = request.now
    yield from each(fetch.begin_to_note(now), lambda asked: fetch.note(asked, now), SLICE)
    fetch.begin_to_look()
    yield from each(fetch.asked, fetch.look_at, SLICE)
    if request.body.max_wait_ms > 0 and not fetch.has_enough:
        if not any(found.has_moved for found in fetch.found):
            fetch.begin_to_wait()
        return _wait(fetch, request)
    yield from each(fetch.found, fetch.tell, SLICE)
    return fetch.told()


def _wait(fetch: Fetch, request: Request[FetchRequest]) -> Wait:
    return Wait(
        watch=fetch.watched(),
        until=fetch.is_over,
        deadline=Millis(request.now + request.body.max_wait_ms),
        then=fetch.response,
        otherwise=fetch.response,
    )


class Fetch:
    """One fetch request, asked once or, while it waits, again and again."""

    def __init__(self, broker: Broker, request: Request[FetchRequest], session: FetchSession | None) -> None:
        body = request.body
        self._broker, self._body, self._session, self._conn = broker, body, session, request.conn
        self._replica = _replica(body)
        self._anywhere = self._replica is None and request.version >= FROM_FOLLOWERS_SINCE
        selector = broker.settings.replication.replica_selector_class
        self._rack = body.rack_id if self._anywhere and is_rack_aware(selector) else ""
        self._session_epoch = 0 if session is None else session.epoch
        self._hints = LeaderHints(broker, request.listener)
        self._committed = body.isolation_level == READ_COMMITTED
        self._incremental = session is not None and body.session_epoch > 0
        self.asked = distinct_partitions_of(body) if session is None else session.partitions()
        to_look_at = session.fresh if session is not None and self._incremental else self.asked
        self.is_long = len(to_look_at) > SLICE
        self.found: list[LogReadResult] = []
        self._has_looked = self._just_looked = False
        self._size = self._left = 0
        self._topics: dict[tuple[str, bytes], FetchableTopicResponse] = {}

    def watched(self) -> tuple[Hashable, ...]:
        """What may bring an answer: the session, which hears of its partitions, or else each of them."""
        if self._session is not None:
            return (self._session,)
        hosted: dict[Hashable, None] = {}
        for asked in self.asked:
            try:
                hosted[self._partition(asked)] = None
            except ProtocolError:
                continue  # found to be an error already: such a fetch does not wait
        return tuple(hosted)

    def note_progress(self, now: Millis) -> None:
        """What a follower asks for tells what it holds."""
        for asked in self.begin_to_note(now):
            self.note(asked, now)

    def begin_to_note(self, now: Millis) -> Iterable[CachedPartition]:
        """The partitions of which a follower brings news: in a session, none of the others."""
        if self._replica is None:
            return ()
        self._broker.follower_states.heard_of(self._replica.id, self._conn, now)
        return partitions_of(self._body)

    def note(self, asked: CachedPartition, now: Millis) -> None:
        """What a follower holds of a partition."""
        with suppress(ProtocolError):  # its answer will say what is wrong
            self._note(self._partition(asked), asked.wanted, now)

    def _note(self, partition: Partition, wanted: FetchPartition, now: Millis) -> None:
        """Only what this very log has counts: a follower that parted from it holds something else."""
        leader, offset = partition.leader(), Offset(wanted.fetch_offset)
        partition.check_epoch(wanted.current_leader_epoch)
        if partition is self._broker.metadata.partition:
            self._check_identity(wanted)
        if self._snapshot(partition, wanted) is not None:
            return
        if wanted.last_fetched_epoch >= 0 and _divergence(
            partition, LeaderEpoch(wanted.last_fetched_epoch), offset
        ):
            return
        if partition.log.start <= offset <= leader.end and self._replica is not None:
            seen = FollowerFetch(*self._replica, offset, Offset(wanted.log_start_offset), self._conn)
            self._broker.follower_states.fetched(partition, seen, now)

    def _check_identity(self, wanted: FetchPartition) -> None:
        if self._replica is not None:
            member = self._broker.metadata.member
            member.check_identity(self._replica.id, wanted.replica_directory_id, self._broker.step.now)

    def begin_to_wait(self) -> None:
        """There is not enough, as of this moment."""
        self._just_looked = True

    def is_over(self) -> bool:
        """Whether there is enough, or its session has gone on to the next fetch."""
        if self._session is not None and self._session.epoch != self._session_epoch:
            self.found, self._has_looked = [], True
            return True  # what is new is for the next to tell: whoever asked for that takes it from no other
        if self._just_looked:
            self._just_looked = False
            return False  # it has looked in this very step, and there was not enough
        return self.is_enough()

    def is_enough(self) -> bool:
        """Look at all partitions: is there enough to answer, or something to complain of?"""
        self.begin_to_look()
        for asked in self.asked:
            self.look_at(asked)
        return self.has_enough

    def begin_to_look(self) -> None:
        self._left = min(self._body.max_bytes, self._broker.settings.broker.fetch_max_bytes)
        self._size, self.found, self._has_looked = 0, [], True
        if self._session is not None and self._incremental:
            self.asked = list(self._session.fresh.values())

    def look_at(self, asked: CachedPartition) -> None:
        """Find what there is of the next partition."""
        session = self._session
        found = self._look(asked, self._left, at_least_one=self._size == 0)
        if session is not None and self._incremental and found.is_all and not self._is_news(found):
            session.rest(asked)
            return
        self.found.append(found)
        if found.is_urgent:
            self._size = max(self._size, self._body.min_bytes)
        self._size += len(found.records)
        self._left -= len(found.records)

    @property
    def has_enough(self) -> bool:
        return self._size >= self._body.min_bytes

    def response(self) -> FetchResponse:
        """The answer, from the last look."""
        if not self._has_looked:
            self.is_enough()
        for found in self.found:
            self.tell(found)
        return self.told()

    def tell(self, found: LogReadResult) -> None:
        """Put what was found into the answer; in a session, what its client does not know yet."""
        if self._incremental and not self._is_news(found):
            return
        asked = found.asked
        topic = self._topics.get((asked.topic, asked.topic_id))
        if topic is None:
            topic = FetchableTopicResponse(asked.topic, asked.topic_id)
            self._topics[asked.topic, asked.topic_id] = topic
        topic.partitions.append(found.told())
        self._told(found)
        if self._replica is not None and len(found.records) > 0:
            self._spend(found)
        self._count(found)

    def told(self) -> FetchResponse:
        """The answer, with all that was told."""
        return FetchResponse(
            session_id=self._session.id if self._session else 0,
            responses=list(self._topics.values()),
            node_endpoints=[NodeEndpoint(*each) for each in self._hints.endpoints()],
        )

    def _count(self, found: LogReadResult) -> None:
        traffic, asked = found.traffic, found.asked
        if traffic is None:
            broker = self._broker
            traffic = broker.replica_manager.traffic.asked_for(asked.topic, asked.topic_id, broker.image)
            count(traffic.failed_fetches, found.error.name)
        elif self._replica is None:
            traffic.bytes_out += len(found.records)
        else:
            traffic.replicated_out += len(found.records)

    def _partition(self, asked: CachedPartition) -> Partition:
        if asked.topic_id == METADATA_TOPIC_ID and asked.wanted.partition == 0:
            return self._broker.metadata.partition
        return self._broker.partition(asked.topic, asked.topic_id, asked.wanted.partition)

    def _look(self, asked: CachedPartition, left: int, *, at_least_one: bool) -> LogReadResult:
        wanted, found = asked.wanted, LogReadResult(asked)
        try:
            partition = self._partition(asked)
            if self._session is not None:
                self._session.watch(asked, partition)
            partition.check_epoch(wanted.current_leader_epoch)
            if not (self._anywhere and partition.follows):
                partition.leader()
            if partition is self._broker.metadata.partition:
                found.leader = self._leader_told(asked)  # an observer may have asked at random
                self._check_identity(wanted)
            elif self._replica is not None:
                partition.leader().check_replica(self._replica.id)
            found.watermark, found.start = partition.watermark, partition.log.start
            found.traffic, found.seen = partition.traffic, standing(partition)
            found.last_stable = partition.log.last_stable(found.watermark)
            found.moved = found.watermark > wanted.high_watermark
            upto = found.last_stable if self._committed else found.watermark
            if self._replica is not None:
                upto = partition.log.end
            offset = Offset(wanted.fetch_offset)
            found.snapshot = self._snapshot(partition, wanted)
            if found.snapshot is not None:
                return found
            if wanted.last_fetched_epoch >= 0:
                found.diverging = _divergence(partition, LeaderEpoch(wanted.last_fetched_epoch), offset)
            if self._rack:
                me = NodeId(self._broker.settings.node_id)
                found.nearer = nearest(partition, self._rack, offset, self._broker.image, me)
            if found.diverging is not None or found.nearer != HERE:
                return found
            if self._is_held_back(partition):
                return found
            if self._anywhere and partition.leads and not partition.leader().can_tell(offset):
                found.error, found.watermark, found.last_stable = ErrorCode.OFFSET_NOT_AVAILABLE, -1, -1
                return found
            limit = min(wanted.partition_max_bytes, left)
            if limit > 0 or at_least_one:
                piece = partition.read(offset, max(0, limit), Offset(upto), at_least_one=at_least_one)
                if piece is not None:
                    found.records = piece
                was_too_large = offset < upto and not len(found.records)
                found.is_all = not was_too_large  # for the room that was left
                if self._committed:
                    end = offset if piece is None else Offset(piece.next_offset)
                    aborted = partition.log.aborted_between(offset, end) if end > offset else []
                    found.aborted = [
                        AbortedTransaction(each.producer_id, each.first_offset) for each in aborted
                    ]
        except ProtocolError as error:
            return self._refused(asked, error.code)
        return found

    def _is_held_back(self, partition: Partition) -> bool:
        """Whether a replica that is not in sync, and has time, must wait for others (replication_quota.py)."""
        return self._is_throttled(partition) and self._broker.follower_states.quota.is_spent(
            self._broker.step.now
        )

    def _is_throttled(self, partition: Partition) -> bool:
        named = partition.log.settings.leader_replication_throttled_replicas
        if not named or self._replica is None or self._replica.id in partition.leader().isr:
            return False
        return is_throttled(named, partition.name.partition, self._replica.id)

    def _snapshot(self, partition: Partition, wanted: FetchPartition) -> SnapshotId | None:
        """What a follower of the metadata is to fetch first, if the log does not reach it."""
        metadata = self._broker.metadata
        if self._replica is None or partition is not metadata.partition:
            return None
        offered = metadata.member.offer(Offset(wanted.fetch_offset), LeaderEpoch(wanted.last_fetched_epoch))
        return None if offered is None else SnapshotId(*offered)

    def _refused(self, asked: CachedPartition, code: ErrorCode) -> LogReadResult:
        refused = LogReadResult(asked, code)
        if code in (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ErrorCode.FENCED_LEADER_EPOCH,
            ErrorCode.UNKNOWN_LEADER_EPOCH,
        ):
            refused.leader = self._leader_told(asked)
        return refused

    def _leader_told(self, asked: CachedPartition) -> LeaderIdAndEpoch | None:
        hint = self._hints.leader_of(asked.topic, asked.topic_id, asked.wanted.partition)
        return None if hint is None else LeaderIdAndEpoch(*hint)

    def _spend(self, found: LogReadResult) -> None:
        if self._is_throttled(self._partition(found.asked)):
            self._broker.follower_states.quota.spend(len(found.records), self._broker.step.now)

    def _is_news(self, found: LogReadResult) -> bool:
        asked = found.asked
        return (
            found.is_urgent
            or len(found.records) > 0
            or found.watermark != asked.watermark_told
            or found.start != asked.start_told
        )

    def _told(self, found: LogReadResult) -> None:
        asked = found.asked
        asked.watermark_told, asked.start_told = found.watermark, found.start
        if found.error is not ErrorCode.NONE or found.diverging is not None:
            # Told again once it is well: whoever has to give way first passes it over.
            asked.watermark_told = UNTOLD
        if self._session is not None and len(found.records) > 0:
            self._session.served(asked.key)


def _replica(body: FetchRequest) -> Replica | None:
    """Who fetches to follow; None is a consumer."""
    if body.replica_state is not None and body.replica_state.replica_id >= 0:
        return Replica(NodeId(body.replica_state.replica_id), body.replica_state.replica_epoch)
    return Replica(NodeId(body.replica_id), -1) if body.replica_id >= 0 else None


def _divergence(partition: Partition, last_epoch: LeaderEpoch, offset: Offset) -> EpochEndOffset | None:
    parted = partition.divergence(last_epoch, offset)
    return None if parted is None else EpochEndOffset(*parted)
