"""Fetch sessions (KIP-227): a consumer names its partitions once, then only what changes.

A session is the list of partitions a client fetches, remembered here. The first request
is full; each one after carries only partitions added, moved or dropped, and is answered
with only those that have something new. The epoch counts requests, so that a lost
response is noticed:

    id 0, epoch  0   open a session        →  id 7
    id 7, epoch  1   what changed          →  what is new
    id 7, epoch  2   …
    id 7, epoch -1   close it, fetch in full, without a session
    id 0, epoch -1   fetch in full, without a session

A session that is full of slots or idle for long gives its place to a new one; its client
is told FETCH_SESSION_ID_NOT_FOUND and opens another. Nothing is lost by forgetting one.
Where the sessions of a node come to more than PARTITIONS_MAX partitions a client gets none,
and names all of its own with every fetch.

Of the thousand partitions of a session a few move at a time, and only these are looked at: a partition that has been
looked at and had nothing new tells the session when it moves (`Partition.watchers`), and is `fresh` then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from andiron.broker.node.patience import FETCH_SESSION_IDLE_MS
from andiron.broker.replicas.partition import Partition
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.wire.messages.fetch import FetchPartition, FetchRequest

FINAL_EPOCH = -1
INITIAL_EPOCH = 0
EPOCH_MAX = (1 << 31) - 1
PARTITIONS_MAX = 250_000  # of all sessions of a node, at about a kilobyte each
UNTOLD = -1  # an offset that its client does not know, or not for certain

Key = tuple[str, bytes, int]  # topic name (or ""), topic id (or zeros), partition


@dataclass(slots=True)
class CachedPartition:
    """One partition that a fetch asks for, and what its session last told the client of it. A fetch without a session
    has some of its own, for as long as it waits."""

    topic: str
    topic_id: bytes
    wanted: FetchPartition
    watermark_told: int = UNTOLD
    start_told: int = UNTOLD
    partition: Partition | None = None  # as it was last looked up; it may be retired since

    @property
    def key(self) -> Key:
        return self.topic, self.topic_id, self.wanted.partition


class FetchSession:
    """The partitions one client fetches, in the order in which they are served."""

    __slots__ = (
        "_asked", "_by_partition", "_isolation", "by_id", "epoch", "fresh", "id", "is_replicas", "used_at",
    )  # fmt: skip

    def __init__(self, id: int, by_id: bool, now: Millis) -> None:
        self.id, self.by_id, self.used_at = id, by_id, now
        self.epoch = 1
        self._asked: dict[Key, CachedPartition] = {}
        self._by_partition: dict[Partition, CachedPartition] = {}
        # Of the last request: what had nothing new under one level may have something under another.
        self._isolation = -1
        self.is_replicas = False  # a follower's: it wants records, and is not woken for a watermark
        self.fresh: dict[Key, CachedPartition] = {}  # those that may have something new

    @property
    def size(self) -> int:
        return len(self._asked)

    def partitions(self) -> list[CachedPartition]:
        """All of them, the one that was served longest ago first."""
        return list(self._asked.values())

    def named_by(self, request: FetchRequest) -> list[CachedPartition]:
        """The partitions that a request of this session names, as the session has them."""
        keys = dict.fromkeys(asked.key for asked in partitions_of(request))
        return [self._asked[key] for key in keys if key in self._asked]

    def watch(self, asked: CachedPartition, partition: Partition) -> None:
        """This is the partition that is asked for: it tells when it moves."""
        if asked.partition is not partition:
            self._leave(asked)
            asked.partition = partition
            self._by_partition[partition] = asked
            partition.watchers[self] = None

    def moved(self, partition: Partition) -> None:
        """Something has happened to one of them."""
        asked = self._by_partition.get(partition)
        if asked is not None:
            self.fresh[asked.key] = asked

    def rest(self, asked: CachedPartition) -> None:
        """There is nothing new of it."""
        self.fresh.pop(asked.key, None)

    def close(self) -> None:
        """It is forgotten: no partition need tell it anything."""
        for asked in self._asked.values():
            self._leave(asked)

    def _leave(self, asked: CachedPartition) -> None:
        if asked.partition is not None:
            asked.partition.watchers.pop(self, None)
            self._by_partition.pop(asked.partition, None)
            asked.partition = None

    def update(self, request: FetchRequest) -> None:
        """Take in what a request adds, changes and forgets."""
        for topic in request.forgotten_topics_data:
            for partition in topic.partitions:
                self._forget((topic.topic, topic.topic_id, partition))
        for asked in partitions_of(request):
            key = asked.key
            known = self._asked.get(key)
            if known is None:
                known = self._asked[key] = asked
            else:
                known.wanted = asked.wanted
                # A follower's next fetch may cross the answer to the last, which it then passes over.
                if self.is_replicas:
                    known.watermark_told = UNTOLD
            self.fresh[key] = known
        if request.isolation_level != self._isolation:
            self._isolation = request.isolation_level
            self.fresh = dict(self._asked)

    def _forget(self, key: Key) -> None:
        asked = self._asked.pop(key, None)
        if asked is not None:
            self._leave(asked)
            self.fresh.pop(key, None)

    def served(self, key: Key) -> None:
        """Records of this partition went out: it goes to the end of the line."""
        if key in self._asked:
            self._asked[key] = self._asked.pop(key)
            if key in self.fresh:
                self.fresh[key] = self.fresh.pop(key)

    def advance(self, now: Millis) -> None:
        """The next request of the session names the next epoch."""
        self.epoch = 1 if self.epoch == EPOCH_MAX else self.epoch + 1
        self.used_at = now


def partitions_of(request: FetchRequest) -> Iterable[CachedPartition]:
    """The partitions a request names, one by one."""
    for topic in request.topics:
        for wanted in topic.partitions:
            yield CachedPartition(topic.topic, topic.topic_id, wanted)


def distinct_partitions_of(request: FetchRequest) -> list[CachedPartition]:
    """The same for a fetch without a session. What is named twice counts as it is named last, as in one."""
    return list({asked.key: asked for asked in partitions_of(request)}.values())


class FetchSessions:
    """The sessions of a node, in the order of their last use; at most `slots` of them, and PARTITIONS_MAX in all."""

    def __init__(self, slots: int, chance: Chance) -> None:
        self._slots, self._chance = slots, chance
        self._sessions: dict[int, FetchSession] = {}
        self._partitions = 0  # of all sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def enter(self, request: FetchRequest, version: int, now: Millis) -> FetchSession | None:
        """The session a request belongs to, brought up to date; None for a fetch in full without one.
        Raises what the client must be told if its session is not as it thinks."""
        id, epoch = request.session_id, request.session_epoch
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._drop(id)
            return self._open(request, version, now) if epoch == INITIAL_EPOCH else None
        session = self._sessions.get(id)
        if session is None:
            raise ErrorCode.FETCH_SESSION_ID_NOT_FOUND.error(f"no session {id}")
        if session.by_id != (version >= 13):
            raise ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR.error(f"session {id} changed between names and ids")
        if session.epoch != epoch:
            raise ErrorCode.INVALID_FETCH_SESSION_EPOCH.error(f"session {id} is at epoch {session.epoch}")
        self._update(session, request)
        if self._partitions > PARTITIONS_MAX:
            self._drop(id)
            raise ErrorCode.FETCH_SESSION_ID_NOT_FOUND.error(f"session {id} has grown too large")
        session.advance(now)
        self._sessions[id] = self._sessions.pop(id)
        return session

    def _open(self, request: FetchRequest, version: int, now: Millis) -> FetchSession | None:
        asked = sum(len(topic.partitions) for topic in request.topics)
        if not asked or self._partitions + asked > PARTITIONS_MAX or not self._has_room(now):
            return None
        session = FetchSession(self._new_id(), by_id=version >= 13, now=now)
        self._update(session, request)
        self._sessions[session.id] = session
        return session

    def _update(self, session: FetchSession, request: FetchRequest) -> None:
        before = session.size
        session.update(request)
        self._partitions += session.size - before

    def _has_room(self, now: Millis) -> bool:
        if len(self._sessions) < self._slots:
            return True
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now - oldest.used_at < FETCH_SESSION_IDLE_MS:
            return False
        self._drop(oldest.id)
        return True

    def _drop(self, id: int) -> None:
        session = self._sessions.pop(id, None)
        if session is not None:
            session.close()
            self._partitions -= session.size

    def _new_id(self) -> int:
        while True:
            id = 1 + self._chance.below(EPOCH_MAX)
            if id not in self._sessions:
                return id
