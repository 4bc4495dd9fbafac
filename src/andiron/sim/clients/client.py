"""A client: a connection, questions on it, and a script to follow.

A script is a generator. It yields what it waits for and is resumed when that has come:

    yield 50                            so many milliseconds later
    answer = yield self.ask(request)    when the answer is here; Gone if the connection broke first

A question may also be asked without waiting for it, with a callback for the answer: that is how a
producer has five requests in flight.

A client that gets no answer in time hangs up and connects again. Whether its request was carried
out it does not know: that is what makes it worth simulating.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from andiron.broker.handlers import HANDLERS
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.sim.host import Host
from andiron.sim.network import Exchange, Link, Network
from andiron.sim.world import World
from andiron.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

Script = Generator[int | Exchange, Any, None]
Then = Callable[[Exchange], None]


class Gone(Exception):
    """The connection broke before the answer came."""


class Topic(NamedTuple):
    """A topic, as the metadata tells of it."""

    name: str
    id: bytes
    partitions: int

    def names(self) -> list[TopicPartition]:
        return [TopicPartition(self.name, index) for index in range(self.partitions)]


class Client:
    """Someone at the other end of a connection."""

    def __init__(self, world: World, network: Network, host: Host, name: str) -> None:
        self.world, self.network, self.host, self.name = world, network, host, name
        self.chance = world.chance
        self.link: Link | None = None
        self.is_done = False
        self.is_closing = False  # finish what is under way, begin nothing new
        self.timeout_ms = self.chance.choice([1_000, 3_000, 8_000])
        self._asked: dict[int, tuple[Exchange, Then | None]] = {}
        self._correlation = 0
        self._versions: dict[int, int] = {}
        self._script: Script | None = None
        self._awaited: Exchange | None = None

    # ── what it does ─────────────────────────────────────────────────────────────────

    def live(self) -> Script:
        """What it does, from beginning to end."""
        raise NotImplementedError

    def was_cut_off(self) -> None:
        """The connection broke, and with it every question asked."""

    def begin(self) -> None:
        """Follow the script."""
        self._script = self.live()
        self._go_on(None)

    # ── asking ───────────────────────────────────────────────────────────────────────

    def connected(self) -> Script:
        """Wait until there is a connection."""
        while self.link is None:
            yield self.chance.randint(1, 50)
            self.link = self.network.connect(self, self.host)

    def ask(self, body: Any, version: int | None = None, then: Then | None = None) -> Exchange:
        """Send a request. There must be a connection."""
        assert self.link is not None
        self._correlation += 1
        if version is None:
            version = self.version_of(type(body).__api_key__)
        exchange = Exchange(body, version, self._correlation, self.world.now)
        self.world.note(self.name, "asks", str(exchange))
        if not exchange.is_unanswered:
            self._asked[self._correlation] = exchange, then
            link = self.link
            self.world.after(self.timeout_ms, lambda: self._lose_patience(link, exchange))
        self.link.send(exchange)
        return exchange

    def version_of(self, key: int) -> int:
        """The version in which this client speaks an API: any that is served, but always the same."""
        if key not in self._versions:
            self._versions[key] = self.chance.randint(*HANDLERS[key].served)
        return self._versions[key]

    def hang_up(self) -> None:
        """Give up the connection."""
        if self.link is not None:
            self.link.hang_up()
            self.cut_off()

    def find_topics(self, wanted: list[str]) -> Generator[int | Exchange, Any, list[Topic]]:
        """The topics of these names that there are."""
        topics = [MetadataRequestTopic(NO_TOPIC_ID, name) for name in wanted]
        request = MetadataRequest(topics, allow_auto_topic_creation=False)
        response = yield self.ask(request, self.chance.randint(10, 13))
        return [
            Topic(topic.name, topic.topic_id, len(topic.partitions))
            for topic in response.topics
            if topic.error_code == 0
        ]

    # ── what happens to it ───────────────────────────────────────────────────────────

    def answered(self, exchange: Exchange) -> None:
        """An answer has arrived."""
        _, then = self._asked.pop(exchange.correlation)
        if then is not None:
            then(exchange)
        if self._awaited is exchange:
            self._awaited = None
            self._go_on(exchange.response)

    def cut_off(self) -> None:
        """The connection is gone."""
        self.link = None
        self._asked.clear()
        self.was_cut_off()
        if self._awaited is not None:
            self._awaited = None
            self._go_on(Gone())

    def _lose_patience(self, link: Link, exchange: Exchange) -> None:
        if self.link is link and exchange.correlation in self._asked:
            self.world.note(self.name, "gives up", str(exchange))
            self.hang_up()

    def _go_on(self, answer: Any) -> None:
        """Let the script go on to where it waits next."""
        assert self._script is not None
        try:
            if isinstance(answer, Gone):
                step = self._script.throw(answer)
            else:
                step = self._script.send(answer)
        except StopIteration:
            self.is_done = True
            self.hang_up()
            return
        if isinstance(step, Exchange):
            self._awaited = step
        else:
            self.world.after(step, lambda: self._go_on(None))
