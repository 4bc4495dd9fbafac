"""A consumer: reads its partitions on and on, by long polls, with a fetch session or without.

With a session it names a partition only when its place in it has changed; the node must remember
the rest. Now and then it forgets a partition for a while, or loses its session.

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
from andiron.sim.host import Host
from andiron.sim.mirror import scan
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

EARLIEST, LATEST = -2, -1
NO_SESSION = (0, -1)

_LOST_SESSION = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)


class Consumer(Client):
    """One reader of some topics."""

    def __init__(self, world: World, network: Network, host: Host, name: str, topics: list[str]) -> None:
        super().__init__(world, network, host, name)
        self._wanted = topics
        self._topics: dict[str, Topic] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._lost: dict[TopicPartition, None] = {}  # out of range: a new place is to be found
        self._version = self.version_of(1)
        self._sessions = self._version >= 7 and self.chance.random() < 0.7
        self._session = (0, 0) if self._sessions else NO_SESSION  # id, epoch of the next request
        self._told: dict[TopicPartition, int] = {}  # the places that the session knows of
        self._stale = 0
        self._has_news = True

    def live(self) -> Script:
        while not (self.is_closing and self._has_come_to_the_end()):
            try:
                yield from self.connected()
                yield from self._turn()
            except Gone:
                self._forget_session()  # who knows whether it has heard of the last change
            yield self.chance.randint(1, 50 if self._has_news else 500)

    def _turn(self) -> Script:
        if not self._topics or self._stale > 5:
            topics = yield from self.find_topics(self._wanted)
            self._learn(topics)
        if self._lost:
            yield from self._find_places()
        if self._positions:
            exchange = self.ask(self._request(), self._version)
            exchange.notes["names"] = {topic.id: topic.name for topic in self._topics.values()}
            exchange.notes["places"] = dict(self._told)
            response = yield exchange
            self._take(response)

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
            self._forget_session()

    def _find_places(self) -> Script:
        """Begin again where there is something, after having been told that there is nothing here."""
        place = self.chance.choice([EARLIEST, EARLIEST, LATEST])
        request = ListOffsetsRequest(replica_id=-1)
        for name in self._lost:
            wanted = ListOffsetsPartition(partition_index=name.partition, timestamp=place)
            request.topics.append(ListOffsetsTopic(name.topic, [wanted]))
        response = yield self.ask(request)
        for topic in response.topics:
            for found in topic.partitions:
                if found.error_code == 0:
                    self._positions[TopicPartition(topic.name, found.partition_index)] = found.offset
        self._lost = {}

    def _has_come_to_the_end(self) -> bool:
        node = self.host.node
        if node is None or not node.ready or not self._topics:
            return False
        for name, position in self._positions.items():
            partition = node.broker.partitions.get(name)
            if partition is None or position >= partition.watermark:
                continue
            # Damage may have cost a compacted log its last batches, and then there is nothing to read.
            if any(batch.next_offset > position for batch, _ in scan(self.host, partition)):
                return False
        return True

    # ── fetching ─────────────────────────────────────────────────────────────────────

    def _request(self) -> FetchRequest:
        chance = self.chance
        id, epoch = self._session
        request = FetchRequest(
            max_wait_ms=chance.choice([0, 50, 500]), min_bytes=chance.choice([0, 1, 1, 500]),
            max_bytes=chance.choice([1, 500, 1 << 20]), isolation_level=chance.randrange(2),
            session_id=id, session_epoch=epoch,
        )  # fmt: skip
        if epoch <= 0:
            self._told = {}
        elif self._told and chance.random() < 0.05:
            self._forget_one(request)
        for name, position in self._positions.items():
            if epoch <= 0 or self._told.get(name) != position:
                topic = self._topics[name.topic]
                place = FetchPartition(
                    partition=name.partition, fetch_offset=position,
                    partition_max_bytes=chance.choice([1, 300, 1 << 20]),
                )  # fmt: skip
                request.topics.append(FetchTopic(topic.name, topic.id, [place]))
                self._told[name] = position
        return request

    def _forget_one(self, request: FetchRequest) -> None:
        name = self.chance.choice(list(self._told))
        topic = self._topics.get(name.topic)
        if topic is not None:
            request.forgotten_topics_data.append(ForgottenTopic(topic.name, topic.id, [name.partition]))
            del self._told[name]

    def _take(self, response: Any) -> None:
        if ErrorCode.of(response.error_code) in _LOST_SESSION:
            self._forget_session()
            return
        if self._session != NO_SESSION:
            self._session = response.session_id, self._session[1] + 1
            if response.session_id == 0:
                self._forget_session()
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
        for batch in iterate(bytes(data.records or b"")):
            self._has_news = True
            self._positions[name] = max(self._positions[name], batch.next_offset)

    def _forget_session(self) -> None:
        if self._sessions:
            self._session = self._session[0], 0  # closes the old one, if it is still there, and opens another
        self._told = {}
