"""A consumer: reads its partitions on and on, by long polls, with fetch sessions or without.

It asks one leader after the other for what it leads. With a session it names a partition only when its place in it
has changed; the node must remember the rest. Now and then it forgets a partition for a while, or loses its session.

Whether what it is shown is right is for the watchers to say, at the moment the node says it
(invariants/reading.py). What it sees to itself is that it gets on: it is done when it has come
to the watermark of every partition there is.
"""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.records.batch import iterate
from andiron.sim.clients.client import Client, Gone, Script, Topic
from andiron.sim.clients.fetch_session import FetchSession
from andiron.sim.leaders import leading, replicas
from andiron.sim.link import Link
from andiron.sim.mirror import batches_of
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

EARLIEST, LATEST = -2, -1

_LOST_SESSION = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


class Consumer(Client):
    """One reader of some topics."""

    def __init__(self, world: World, network: Network, name: str, topics: list[str]) -> None:
        super().__init__(world, network, name)
        self._wanted = topics
        self._topics: dict[str, Topic] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._lost: dict[TopicPartition, None] = {}  # out of range: a new place is to be found
        self._version = self.version_of(1)
        self._keeps_sessions = self._version >= 7 and self.chance.random() < 0.7
        self._sessions: dict[int, FetchSession] = {}  # by host
        self._stale = 0
        self._has_news = True

    def live(self) -> Script:
        while not (self.is_closing and self._has_come_to_the_end()):
            try:
                yield from self.connected()
                yield from self._turn()
            except Gone:
                self._forget_sessions()  # who knows whether they have heard of the last change
            yield self.chance.randint(1, 50 if self._has_news else 500)

    def _turn(self) -> Script:
        if not self._topics or self._stale > 5 or self.signposts.are_stale:
            topics = yield from self.find_topics(self._wanted)
            self._learn(topics)
        if self._lost:
            yield from self._find_places()
        if self._positions:
            leader = yield from self.at_leader(self._next())
            session = self._sessions.setdefault(
                leader.host.number, FetchSession(is_kept=self._keeps_sessions)
            )
            exchange = self.ask(self._request(leader, session), self._version, via=leader)
            exchange.notes["names"] = {topic.id: topic.name for topic in self._topics.values()}
            exchange.notes["places"] = dict(session.told)
            response = yield exchange
            self._take(session, response)

    # ── topics ───────────────────────────────────────────────────────────────────────

    def _learn(self, topics: list[Topic]) -> None:
        self._stale = 0
        known = [topic.id for topic in self._topics.values()]
        self._topics = {topic.name: topic for topic in topics}
        self._positions = {
            name: self._positions.get(name, 0) if topic.id in known else 0
            for topic in topics
            for name in topic.names()
        }
        if known != [topic.id for topic in topics]:
            self._forget_sessions()

    def _find_places(self) -> Script:
        """Begin again where there is something, after having been told that there is nothing here."""
        place = self.chance.choice([EARLIEST, EARLIEST, LATEST])
        request = ListOffsetsRequest(replica_id=-1)
        known = [name for name in self._lost if self.signposts.leader_of(name) is not None]
        if not known:
            self._lost = {}
            return
        leader = yield from self.at_leader(known[0])
        lost = self._led_by(leader, known)
        for name in lost:
            wanted = ListOffsetsPartition(partition_index=name.partition, timestamp=place)
            request.topics.append(ListOffsetsTopic(name.topic, [wanted]))
        response = yield self.ask(request, via=leader)
        for topic in response.topics:
            for found in topic.partitions:
                self.signposts.misled(ErrorCode.of(found.error_code))
                if found.error_code == 0:
                    self._positions[TopicPartition(topic.name, found.partition_index)] = found.offset
        self._lost = {name: None for name in self._lost if name not in lost}

    def _has_come_to_the_end(self) -> bool:
        if not self._topics or not all(host.is_ready for host in self.world.hosts.values()):
            return False
        for name, position in self._positions.items():
            leader = leading(self.world, name)
            if leader is None and replicas(self.world, name):
                return False
            if leader is None or position >= leader.partition.watermark:
                continue
            # Damage may have cost a compacted log its last batches, and then there is nothing to read.
            if any(batch.next_offset > position for batch in batches_of(*leader)):
                return False
        return True

    def _is_behind(self, name: TopicPartition) -> bool:
        leader = leading(self.world, name)
        return leader is not None and self._positions[name] < leader.partition.watermark

    # ── fetching ─────────────────────────────────────────────────────────────────────

    def _next(self) -> TopicPartition:
        """One of the partitions that the next request is about; it goes to whoever leads it. In the end it is one that
        has something left: there is no patience then with somebody who looks everywhere else."""
        names = list(self._positions)
        if self.is_closing:
            names = [name for name in names if self._is_behind(name)] or names
        return names[0] if self.signposts.only is not None else self.chance.choice(names)

    def _led_by(self, leader: Link, names: list[TopicPartition]) -> list[TopicPartition]:
        return [name for name in names if self.signposts.leader_of(name) is leader.host]

    def _request(self, leader: Link, session: FetchSession) -> FetchRequest:
        chance, signposts = self.chance, self.signposts
        request = FetchRequest(
            max_wait_ms=chance.choice([0, 50, 500]), min_bytes=chance.choice([0, 1, 1, 500]),
            max_bytes=chance.choice([1, 500, 1 << 20]),
            # A loss of power may have left a transaction open for ever, and in the end all is to be read.
            isolation_level=chance.randrange(2) * (not self.is_closing),
            session_id=session.id, session_epoch=session.epoch,
        )  # fmt: skip
        led = self._led_by(leader, list(self._positions))
        if session.names_all:
            session.told = {}
        elif session.told and chance.random() < 0.05:
            self._forget_some(request, session, [chance.choice(list(session.told))])
        self._forget_some(request, session, [name for name in session.told if name not in led])
        for name in led:
            position = self._positions[name]
            if session.names_all or session.told.get(name) != position:
                topic = self._topics[name.topic]
                place = FetchPartition(
                    partition=name.partition, fetch_offset=position,
                    partition_max_bytes=chance.choice([1, 300, 1 << 20]),
                )  # fmt: skip
                if signposts.only is None and chance.random() < 0.5:
                    place.current_leader_epoch = signposts.epoch_of(name)
                request.topics.append(FetchTopic(topic.name, topic.id, [place]))
                session.told[name] = position
        return request

    def _forget_some(self, request: FetchRequest, session: FetchSession, names: list[TopicPartition]) -> None:
        for name in names:
            topic = self._topics.get(name.topic)
            if topic is not None:
                request.forgotten_topics_data.append(ForgottenTopic(topic.name, topic.id, [name.partition]))
                del session.told[name]

    def _take(self, session: FetchSession, response: Any) -> None:
        if ErrorCode.of(response.error_code) in _LOST_SESSION:
            session.forget()
            return
        session.answered(response.session_id)
        names = {topic.id: topic.name for topic in self._topics.values()}
        self._has_news = False
        for topic in response.responses:
            for data in topic.partitions:
                name = TopicPartition(topic.topic or names.get(topic.topic_id, ""), data.partition_index)
                if name in self._positions:
                    self._take_one(name, data)

    def _take_one(self, name: TopicPartition, data: Any) -> None:
        code = ErrorCode.of(data.error_code)
        if code is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._lost[name] = None
        elif code is not ErrorCode.NONE:
            self._stale += 1
            self.signposts.misled(code)
        for batch in iterate(bytes(data.records or b"")):
            self._has_news = True
            self._positions[name] = max(self._positions[name], batch.next_offset)

    def _forget_sessions(self) -> None:
        for session in self._sessions.values():
            session.forget()
