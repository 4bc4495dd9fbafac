"""Fetch (key 1), versions 4-18: records from partitions, as slices of their files.

Answers at once when `min_bytes` are there or something went wrong, else waits up to
`max_wait_ms` for one of its partitions to move (a long poll). What a consumer may see
ends at the high watermark, or for read_committed at the last stable offset (LSO). The first
partition with records gives at least one whole batch, however large; the rest share what
is left of `max_bytes`. Records are never read here: the answer carries FileSlices, and
the edge sends them from the page cache.

A follower fetches as a consumer does, and sees everything up to the log end offset. What it asks for tells what it
holds, and that counts (replication/leader.py) before it is served, unless its log parts from this one: then it is told
where. One that the metadata log does not reach any more is told of a snapshot instead. What a fetch by a consumer, one
by a follower and one of the metadata log do differently is in replicas/partition_readers.py.

A leader that has just begun may not know how far its log is committed: who asks for what comes then waits, and is told
OFFSET_NOT_AVAILABLE, as by ListOffsets, where Kafka tells an earlier watermark; consumers ask again.

Each partition is looked up once a request, in a session once in its life; and again only if it has gone away meanwhile
(`Partition.retired`): its topic may be there anew when a fetch that waits looks next. Its leader epoch and divergence
are judged with every look.

Version 7 brings sessions (fetch_sessions.py, KIP-227), 13 topic ids for names (KIP-516), 16 tells who leads instead
(leader_hints.py, KIP-951).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TypeAlias

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_requests import TOPIC_ID as METADATA_TOPIC_ID
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.fetch_sessions import (
    UNTOLD,
    CachedPartition,
    FetchSession,
    distinct_partitions_of,
)
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.replicas.log_read_result import LogReadResult, standing
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.partition_readers import (
    READ_COMMITTED,
    ConsumerReader,
    FollowerReader,
    MetadataConsumerReader,
    MetadataFollowerReader,
    PartitionReader,
    leader_told,
    replica_of,
)
from andiron.broker.settings.listeners import Scope
from andiron.broker.telemetry.traffic import count
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
)

API = ApiKey.FETCH
SERVED = ADVERTISED = (4, 18)
SCOPE = Scope.BOTH

LED_ELSEWHERE = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
}  # with these it is told who leads (KIP-951)

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
        session.is_replicas = replica_of(body) is not None
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
    yield from each(fetch.begin_to_note(now), lambda asked: fetch.note(asked, now), SIZES.fetched_partitions)
    fetch.begin_to_look()
    yield from each(fetch.asked, fetch.look_at, SIZES.fetched_partitions)
    if request.body.max_wait_ms > 0 and not fetch.has_enough:
        if not any(found.has_moved for found in fetch.found):
            fetch.begin_to_wait()
        return _wait(fetch, request)
    yield from each(fetch.found, fetch.tell, SIZES.fetched_partitions)
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
        self._broker, self._body, self._session = broker, body, session
        self._conn, self._version = request.conn, request.version
        self._hints = LeaderHints(broker, request.listener)
        self._replica = replica_of(body)
        self._reader: PartitionReader = (
            ConsumerReader(broker, body, request.version)
            if self._replica is None
            else FollowerReader(broker, self._replica, request.conn)
        )
        self._session_epoch = 0 if session is None else session.epoch
        self._read_committed = body.isolation_level == READ_COMMITTED
        self._incremental = session is not None and body.session_epoch > 0
        self.asked = distinct_partitions_of(body) if session is None else session.partitions()
        to_look_at = session.fresh if session is not None and self._incremental else self.asked
        self.is_long = len(to_look_at) > SIZES.fetched_partitions
        self.found: list[LogReadResult] = []
        self._judged: dict[
            Hashable, tuple[Partition, LogReadResult]
        ] = {}  # positions, until they are read from
        self._has_looked = self._just_looked = False
        self._size = self._left = 0
        self._topics: dict[tuple[str, bytes], FetchableTopicResponse] = {}

    @cached_property
    def _metadata_reader(self) -> PartitionReader:
        if self._replica is None:
            return MetadataConsumerReader(self._broker, self._body, self._version, self._hints)
        return MetadataFollowerReader(self._broker, self._replica, self._conn, self._hints)

    def _reader_of(self, asked: CachedPartition) -> PartitionReader:
        is_metadata = asked.topic_id == METADATA_TOPIC_ID and asked.wanted.partition == 0
        return self._metadata_reader if is_metadata else self._reader

    def _partition(self, asked: CachedPartition, reader: PartitionReader) -> Partition:
        """The partition that is asked for: looked up when it is first asked for, or is not what it was any more."""
        partition = asked.partition
        return reader.find(asked) if partition is None or partition.retired else partition

    def watched(self) -> tuple[Hashable, ...]:
        """What may bring an answer: the session, which hears of its partitions, or else each of them."""
        if self._session is not None:
            return (self._session,)
        return tuple(dict.fromkeys(found.partition for found in self.found if found.partition is not None))

    # ── what a follower's positions say ──────────────────────────────────────────────

    def note_progress(self, now: Millis) -> None:
        """What a follower asks for tells what it holds."""
        for asked in self.begin_to_note(now):
            self.note(asked, now)

    def begin_to_note(self, now: Millis) -> Iterable[CachedPartition]:
        """The partitions of which a follower brings news: in a session, none of the others."""
        if self._replica is None:
            return ()
        self._broker.follower_states.heard_of(self._replica.id, self._conn, now)
        return self.asked if self._session is None else self._session.named_by(self._body)

    def note(self, asked: CachedPartition, now: Millis) -> None:
        """Judge the position that a follower names in a partition, and take note of what it holds."""
        with suppress(ProtocolError):  # its answer will say what is wrong
            reader, found = self._reader_of(asked), LogReadResult(asked)
            partition = found.partition = self._partition(asked, reader)
            reader.judge(partition, found)
            found.seen = standing(partition)
            self._judged[asked.key] = partition, found
            reader.note(partition, found, now)

    # ── what there is to read ────────────────────────────────────────────────────────

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
        """A look begins: nothing of it counts that an earlier one has found."""
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
        """Whether there are min_bytes, or something that cannot wait for them."""
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
        self._count(found)

    def told(self) -> FetchResponse:
        """The answer, with all that was told."""
        return FetchResponse(
            session_id=self._session.id if self._session else 0,
            responses=list(self._topics.values()),
            node_endpoints=[NodeEndpoint(*each) for each in self._hints.endpoints()],
        )

    def _count(self, found: LogReadResult) -> None:
        asked, partition = found.asked, found.partition
        if partition is None:
            broker = self._broker
            traffic = broker.replica_manager.traffic.asked_for(asked.topic, asked.topic_id, broker.image)
            count(traffic.failed_fetches, found.error.name)
        else:
            self._reader.count(partition.traffic, found)

    def _look(self, asked: CachedPartition, left: int, *, at_least_one: bool) -> LogReadResult:
        """Judge a position, unless that has just been done, and read from it: at most what is `left` of the answer."""
        reader = self._reader_of(asked)
        judged = self._judged.pop(asked.key, None) if self._judged else None
        found, wanted = LogReadResult(asked), asked.wanted
        try:
            is_judged = judged is not None and judged[1].is_judged
            partition = judged[0] if judged is not None and is_judged else self._partition(asked, reader)
            if self._session is not None:
                self._session.watch(asked, partition)  # it tells when it moves
            else:
                asked.partition = partition
            found.leader = reader.hint(asked)
            if judged is not None and is_judged:
                found.snapshot, found.diverging = judged[1].snapshot, judged[1].diverging
            else:
                reader.judge(partition, found)
            log = partition.log
            found.partition, found.start = partition, log.start
            found.seen = _, watermark, _ = standing(partition)
            found.watermark, found.last_stable = watermark, log.last_stable(watermark)
            found.moved = watermark > wanted.high_watermark
            if found.snapshot is not None or found.diverging is not None or reader.withheld(partition, found):
                return found
            limit = min(wanted.partition_max_bytes, left)
            if limit > 0 or at_least_one:
                offset, upto = Offset(wanted.fetch_offset), reader.end(partition, found)
                piece = partition.read(offset, max(0, limit), upto, at_least_one=at_least_one)
                if piece is not None:
                    found.records = piece
                was_too_large = offset < upto and not len(found.records)
                found.is_all = not was_too_large  # for the room that was left
                if self._read_committed:
                    end = offset if piece is None else Offset(piece.next_offset)
                    found.aborted = _aborted(partition, offset, end)
        except ProtocolError as error:
            refused = LogReadResult(asked, error.code)
            if error.code in LED_ELSEWHERE:
                refused.leader = leader_told(self._hints, asked)
            return refused
        return found

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


def _aborted(partition: Partition, start: Offset, end: Offset) -> list[AbortedTransaction]:
    """The aborted transactions that touch what is read, for a consumer to leave out (KIP-98)."""
    aborted = partition.log.aborted_between(start, end) if end > start else []
    return [AbortedTransaction(each.producer_id, each.first_offset) for each in aborted]
