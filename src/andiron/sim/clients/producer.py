"""A producer: batches to several partitions, up to five requests in flight, each sent until it is answered for.

    queue of a partition   [ 7 in flight │ 8 in flight │ 9 to be sent again │ … ]   in the order of sequences

An idempotent one numbers its batches and sends a batch that it has no answer to again under the same
number, so that the node can tell. Order is kept by patience: batches of a partition are sent again
only when none of its others is in flight, oldest first, and no new ones before that.

Each batch goes to whoever is said to lead its partition. Told that another does, or that the topic is not there, it
looks again where to go and sends it there, unless the topic is really another one by then.

What it cannot repair by sending again (a number that the node says is out of turn although nothing
before it is missing, a topic that is gone) makes it start over with a new producer id. Those batches
may be in the log or not; nobody was promised anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TIMESTAMP, TopicPartition
from andiron.sim.clients.client import Client, Gone, Script, Topic
from andiron.sim.clients.signposts import passes
from andiron.sim.exchange import Exchange
from andiron.sim.ledger import Ledger, Sent
from andiron.sim.link import Link
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

IN_FLIGHT_MAX = 5
NOBODY = (-1, -1)

_ACCEPTED = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
_OUT_OF_TURN = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
_TOPIC_GONE = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


@dataclass(frozen=True, slots=True)
class Habits:
    """What kind of producer it is."""

    topics: list[str]
    acks: int
    idempotent: bool
    batches: int  # in all
    pace_ms: int  # between two looks at what to send, at most
    codec: int = 0
    keys: int = 0  # distinct keys; 0: records have none
    tombstones: float = 0.0  # of the keyed records, as a share
    timeless: list[str] = field(default_factory=list)  # topics whose records get no timestamp


class Producer(Client):
    """One producer, and the batches it answers for."""

    def __init__(self, world: World, network: Network, name: str, habits: Habits, ledger: Ledger) -> None:
        super().__init__(world, network, name)
        self.habits, self._ledger = habits, ledger
        self.acknowledged = 0
        self._left = habits.batches
        self._topics: dict[str, Topic] = {}
        self._identity = None if habits.idempotent else NOBODY
        self._sequences: dict[TopicPartition, int] = {}
        self._queues: dict[TopicPartition, list[Sent]] = {}
        self._requests = 0  # in flight

    def live(self) -> Script:
        while any(self._queues.values()) or (self._left and not self.is_closing):
            try:
                yield from self.connected()
                if not self._topics or self.signposts.are_stale:
                    yield from self._find_topics()
                elif self._identity is None:
                    yield from self._begin_anew()
                else:
                    self._send_again()
                    self._send_new()
            except Gone:
                pass
            yield self.chance.randint(1, self.habits.pace_ms)

    def was_cut_off(self, gone: list[Exchange]) -> None:
        for exchange in gone:
            for sent in exchange.notes.get("sent", ()):
                sent.in_flight = False
            self._requests -= "sent" in exchange.notes

    # ── before anything can be sent ──────────────────────────────────────────────────

    def _find_topics(self) -> Script:
        known, topics = self._topics, (yield from self.find_topics(self.habits.topics))
        self._topics = {topic.name: topic for topic in topics}
        if any(self._topics.get(name) is None or self._topics[name].id != known[name].id for name in known):
            self._start_over()
        if not topics:
            yield 100

    def _begin_anew(self) -> Script:
        response = yield self.ask(InitProducerIdRequest())
        if response.error_code == 0:
            self._identity = response.producer_id, response.producer_epoch
            self._sequences = {}

    # ── sending ──────────────────────────────────────────────────────────────────────

    def _send_again(self) -> None:
        for name, queue in self._queues.items():
            if not queue or any(sent.in_flight for sent in queue):
                continue
            leader = self._leader(name)
            if leader is not None:
                for sent in queue[: IN_FLIGHT_MAX - self._requests]:
                    self._post([sent], leader)

    def _send_new(self) -> None:
        while self._left and not self.is_closing and self._requests < IN_FLIGHT_MAX:
            names = [name for topic in self._topics.values() for name in topic.names() if self._is_free(name)]
            if not names or self.chance.random() < 0.3:
                return
            chosen = self.chance.sample(names, min(len(names), self.chance.choice([1, 1, 2, 3])))
            requests: dict[int, tuple[Link, list[Sent]]] = {}
            for name in chosen:
                leader = self._leader(name)
                assert leader is not None
                requests.setdefault(leader.number, (leader, []))[1].append(self._make(name))
            for leader, batches in requests.values():
                self._post(batches, leader)

    def _is_free(self, name: TopicPartition) -> bool:
        """Whether nothing has to be sent again before, and there is somebody to send to."""
        return all(sent.in_flight for sent in self._queues.get(name, ())) and self._leader(name) is not None

    def _leader(self, name: TopicPartition) -> Link | None:
        """A connection to whoever is said to lead a partition."""
        host = self.signposts.leader_of(name)
        link = None if host is None else self.connect(host)
        if link is None:
            self.signposts.doubt()
        return link

    def _make(self, name: TopicPartition) -> Sent:
        self._left = max(self._left - 1, 0)
        assert self._identity is not None
        contents = [self._record() for _ in range(self.chance.randint(1, 6))]
        if name.topic in self.habits.timeless:
            contents = [(NO_TIMESTAMP, key, value) for _, key, value in contents]
        sequence = self._sequences.get(name, 0) if self.habits.idempotent else -1
        self._sequences[name] = sequence + len(contents)
        sent = self._ledger.write(
            name, contents, codec=self.habits.codec, producer=(*self._identity, sequence)
        )
        if self.habits.acks:
            self._queues.setdefault(name, []).append(sent)
        return sent

    def _record(self) -> tuple[int, bytes | None, bytes | None]:
        chance, habits = self.chance, self.habits
        timestamp = self.world.now - chance.choice([0, 0, 0, chance.randint(0, 20_000)])
        value: bytes | None = chance.randbytes(chance.choice([0, 10, 40, 100]))
        if not habits.keys:
            return timestamp, None, value
        if chance.random() < habits.tombstones:
            value = None
        return timestamp, b"k%d" % chance.randrange(habits.keys), value

    def _post(self, batches: list[Sent], leader: Link) -> None:
        request = ProduceRequest(acks=self.habits.acks, timeout_ms=self.chance.choice([200, 1_500, 5_000]))
        topics: dict[str, TopicProduceData] = {}
        for sent in batches:
            topic = self._topics.get(sent.partition.topic)
            topic_id = topic.id if topic else bytes(16)
            data = topics.setdefault(sent.partition.topic, TopicProduceData(sent.partition.topic, topic_id))
            data.partition_data.append(PartitionProduceData(sent.partition.partition, sent.data))
            sent.in_flight = True
        request.topic_data = list(topics.values())
        if self.habits.acks:
            self._requests += 1
        exchange = self.ask(request, then=partial(self._answered, batches), via=leader)
        exchange.notes["sent"] = batches

    # ── answers ──────────────────────────────────────────────────────────────────────

    def _answered(self, batches: list[Sent], exchange: Exchange) -> None:
        self._requests -= 1
        codes = {
            (topic.name or self._name_of(topic.topic_id), answer.index): ErrorCode.of(answer.error_code)
            for topic in exchange.response.responses
            for answer in topic.partition_responses
        }
        for sent in batches:
            sent.in_flight = False
            if sent in self._queues.get(sent.partition, ()):
                self._settle(sent, codes.get(sent.partition, ErrorCode.UNKNOWN_TOPIC_ID))

    def _settle(self, sent: Sent, code: ErrorCode) -> None:
        queue = self._queues[sent.partition]
        is_misled = self.signposts.misled(code)
        if code in _ACCEPTED:
            queue.remove(sent)
            self.acknowledged += 1
        elif code in _OUT_OF_TURN:
            if queue[0] is sent:
                self._start_over()
        elif code in _TOPIC_GONE and not (is_misled and self.signposts.are_stale):
            self._topics = {}
            self._start_over()
        elif not passes(code):
            self._start_over()

    def _start_over(self) -> None:
        """Nothing that is under way can be repaired."""
        self.world.note(self.name, "starts over")
        self._queues = {}
        if self.habits.idempotent:
            self._identity = None

    def _name_of(self, topic_id: bytes) -> str:
        return next((topic.name for topic in self._topics.values() if topic.id == topic_id), "")
