"""A client: connections, questions on them, and a script to follow.

A script is a generator. It yields what it waits for and is resumed when that has come:

    yield 50                            so many milliseconds later
    answer = yield self.ask(request)    when the answer is here; Gone if the connection broke first

A question may also be asked without waiting for it, with a callback for the answer: that is how a
producer has five requests in flight.

    connected()                 any broker: metadata, administration
    connected(host)             this one, or Gone: then it asks another where to go (signposts.py)
    at_leader(partition)        whoever is said to lead it

A client that gets no answer in time hangs up and connects again. Whether its request was carried
out it does not know: that is what makes it worth simulating.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from andiron.broker.handlers import HANDLERS
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.sim.clients.signposts import Signposts
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.link import Link
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

WANDERS = 0.1  # of the times that any broker would do, it takes another one

Script = Generator[int | Exchange, Any, None]
Connecting = Generator[int | Exchange, Any, Link]
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
    """Someone at the other end of connections."""

    def __init__(self, world: World, network: Network, name: str) -> None:
        self.world, self.network, self.name = world, network, name
        self.machine = name
        self.chance = world.chance
        self.signposts = Signposts(network, list(world.hosts.values()))
        self.is_done = False
        self.is_closing = False  # finish what is under way, begin nothing new
        self.timeout_ms = self.chance.choice([1_000, 3_000, 8_000])
        self._links: dict[int, Link] = {}  # by the number of the host
        self._home: int | None = None  # the host to ask what any could answer
        self._asked: dict[int, tuple[Exchange, Then | None, Link]] = {}
        self._correlation = 0
        self._versions: dict[int, int] = {}
        self._script: Script | None = None
        self._awaited: Exchange | None = None

    # ── what it does ─────────────────────────────────────────────────────────────────

    def live(self) -> Script:
        """What it does, from beginning to end."""
        raise NotImplementedError

    def was_cut_off(self, gone: list[Exchange]) -> None:
        """A connection broke, and with it these questions."""

    def begin(self) -> None:
        """Follow the script."""
        self._script = self.live()
        self._go_on(None)

    # ── connecting ───────────────────────────────────────────────────────────────────

    @property
    def link(self) -> Link | None:
        """The connection for what any broker can answer."""
        return None if self._home is None else self._links.get(self._home)

    def connect(self, host: Host) -> Link | None:
        """A connection to this host, made now if there is none; None if it does not answer."""
        link = self._links.get(host.number) or self.network.connect(self, host)
        if link is not None:
            self._links[host.number] = link
            if self.link is None:
                self._home = host.number
        return link

    def connected(self, to: Host | None = None) -> Connecting:
        """Wait until there is a connection: to any broker, or to this one. Gone if it cannot be had, and there are
        others to ask where else to go."""
        if to is None and self.signposts.only is None and self.chance.random() < WANDERS:
            self._home = None
        while True:
            link = self.link if to is None else self._links.get(to.number)
            if link is not None:
                return link
            yield self.chance.randint(1, 50)
            host = to or self.signposts.only or self.chance.choice(self.signposts.brokers)
            if self.connect(host) is None and to is not None and self.signposts.only is None:
                self.signposts.doubt()
                raise Gone

    def at_leader(self, name: TopicPartition) -> Connecting:
        """Wait for a connection to whoever leads a partition; Gone if nobody is known to, or it cannot be had."""
        host = self.signposts.leader_of(name)
        if host is None:
            self.signposts.doubt()
            raise Gone
        return (yield from self.connected(host))

    def hang_up(self, link: Link | None = None) -> None:
        """Give up a connection, or all."""
        for each in [link] if link is not None else list(self._links.values()):
            each.hang_up()
            self.cut_off(each)

    # ── asking ───────────────────────────────────────────────────────────────────────

    def ask(
        self, body: Any, version: int | None = None, then: Then | None = None, *, via: Link | None = None
    ) -> Exchange:
        """Send a request. There must be a connection, if none is given."""
        link = via or self.link
        assert link is not None
        self._correlation += 1
        if version is None:
            version = self.version_of(type(body).__api_key__)
        exchange = Exchange(body, version, self._correlation, self.world.now)
        self.world.note(self.name, "asks", str(exchange))
        if not exchange.is_unanswered:
            self._asked[self._correlation] = exchange, then, link
            self.world.after(self.timeout_ms, lambda: self._lose_patience(link, exchange))
        link.send(exchange)
        return exchange

    def version_of(self, key: int) -> int:
        """The version in which this client speaks an API: any that is served, but always the same."""
        if key not in self._versions:
            self._versions[key] = self.chance.randint(*HANDLERS[key].served)
        return self._versions[key]

    def find_topics(self, wanted: list[str]) -> Generator[int | Exchange, Any, list[Topic]]:
        """The topics of these names that there are."""
        topics = [MetadataRequestTopic(NO_TOPIC_ID, name) for name in wanted]
        request = MetadataRequest(topics, allow_auto_topic_creation=False)
        response = yield self.ask(request, self.chance.randint(10, 13))
        self.signposts.learn(response)
        return [
            Topic(topic.name, topic.topic_id, len(topic.partitions))
            for topic in response.topics
            if topic.error_code == 0
        ]

    # ── what happens to it ───────────────────────────────────────────────────────────

    def answered(self, link: Link, exchange: Exchange) -> None:
        """An answer has arrived."""
        _, then, _ = self._asked.pop(exchange.correlation)
        if then is not None:
            then(exchange)
        if self._awaited is exchange:
            self._awaited = None
            self._go_on(exchange.response)

    def cut_off(self, link: Link) -> None:
        """A connection is gone."""
        if self._links.get(link.host.number) is link:
            del self._links[link.host.number]
        gone = [exchange for exchange, _, over in self._asked.values() if over is link]
        for exchange in gone:
            del self._asked[exchange.correlation]
        self.signposts.doubt()
        self.was_cut_off(gone)
        if self._awaited is not None and self._awaited in gone:
            self._awaited = None
            self._go_on(Gone())

    def _lose_patience(self, link: Link, exchange: Exchange) -> None:
        if exchange.correlation in self._asked:
            self.world.note(self.name, "gives up", str(exchange))
            self.hang_up(link)

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
