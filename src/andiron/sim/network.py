"""Connections between clients and hosts: frames that take their time, and ends that come at a bad one.

    client ── send ──▶ ···· delay ···· ──▶ ticket n ──▶ node
    client ◀── answered ◀── ···· delay ···· ◀── in turn? ◀── Reply(ticket n)

A connection keeps the order of its frames, as TCP does, and nothing else: when it breaks, what
was underway may still arrive or be lost, and nobody is told which. So a client never knows whether a
request that got no answer was carried out.

A reply is decoded when it leaves the node, and what it says is shown to the watchers then: it is a
promise from that moment, though it may never arrive.

The law of tickets: each gets exactly one reply, in turn, unless the connection ends.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from andiron.log.disk import FileSlice
from andiron.model.effects import Part
from andiron.model.ids import Millis
from andiron.sim.watcher import Violation
from andiron.wire.apis import APIS
from andiron.wire.codec import decoder, encoder
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.primitives import MalformedMessage

if TYPE_CHECKING:
    from andiron.sim.clients.client import Client
    from andiron.sim.host import Host
    from andiron.sim.world import World


class Exchange:
    """One request, and what became of it."""

    __slots__ = (
        "body", "correlation", "decided_at", "heard_at", "key", "notes", "response", "said_at", "sent_at",
        "version",
    )  # fmt: skip

    def __init__(self, body: Any, version: int, correlation: int, sent_at: Millis) -> None:
        self.body, self.version, self.correlation, self.sent_at = body, version, correlation, sent_at
        self.key: int = type(body).__api_key__
        self.response: Any = None
        self.heard_at = self.decided_at = self.said_at = Millis(-1)
        self.notes: dict[Any, Any] = {}  # what watchers want to remember of it

    def __str__(self) -> str:
        return f"{APIS[self.key].name} v{self.version} #{self.correlation}"

    @property
    def was_held(self) -> bool:
        """Whether the reply had to wait for its turn: then it tells of an earlier moment."""
        return self.decided_at != self.said_at

    @property
    def is_unanswered(self) -> bool:
        """Whether no reply is expected: a produce request with acks=0."""
        return self.key == 0 and self.body.acks == 0

    def encode(self, client_id: str) -> bytes:
        """The frame of the request."""
        head = encode_request_header(self.key, self.version, self.correlation, client_id)
        parts: list[Any] = [head]
        encoder(type(self.body), self.version)(self.body, parts)
        return b"".join(parts)

    def decode(self, frame: bytes) -> None:
        """Take in the frame of the response."""
        try:
            correlation, position = decode_response_header(frame, 0, len(frame), self.key, self.version)
            self.response, end = decoder(APIS[self.key].response, self.version)(frame, position, len(frame))
        except MalformedMessage as error:
            raise Violation("responses decode", f"{self}: {error}") from error
        if correlation != self.correlation or end != len(frame):
            raise Violation(
                "responses decode", f"{self}: correlation {correlation}, {len(frame) - end} bytes over"
            )


class Network:
    """How long frames take, and what connects whom."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._count = 0
        self.delay_ms_max = 10
        self.links: dict[int, Link] = {}  # with at least one end open

    def connect(self, client: Client, host: Host) -> Link | None:
        """A new connection; None if nobody listens there."""
        if not host.is_open:
            return None
        self._count += 1
        link = self.links[self._count] = Link(self._world, self, self._count, client, host)
        host.connected(link)
        return link

    def delay(self) -> int:
        return self._world.chance.randint(0, self.delay_ms_max)


class Link:
    """One connection, both ends of it."""

    def __init__(self, world: World, network: Network, number: int, client: Client, host: Host) -> None:
        self._world, self._network = world, network
        self.number, self.client, self.host = number, client, host
        self.client_open = self.host_open = True
        self._to_host_at = self._to_client_at = world.now
        self._issued = 0
        self._owed = 1
        self._unanswered: dict[int, Exchange] = {}
        self._held: dict[int, tuple[Exchange, list[Part] | None]] = {}

    @property
    def unanswered(self) -> list[Exchange]:
        """What the node has been asked and has not answered."""
        return list(self._unanswered.values())

    # ── the client's end ─────────────────────────────────────────────────────────────

    def send(self, exchange: Exchange) -> None:
        """Send a request off."""
        frame = exchange.encode(self.client.name)
        self._to_host_at = max(self._to_host_at, Millis(self._world.now + self._network.delay()))
        self._world.at(self._to_host_at, lambda: self._arrive(exchange, frame))

    def hang_up(self) -> None:
        """The client gives the connection up; what it has sent may still arrive."""
        if self.client_open:
            self.client_open = False
            self._world.at(self._end_at(self._to_host_at), self._host_notices)

    # ── the host's end ───────────────────────────────────────────────────────────────

    def reply(self, ticket: int, parts: list[Part] | None) -> None:
        """Take the reply to one request; it leaves when its turn has come."""
        exchange = self._unanswered.pop(ticket, None)
        if exchange is None:
            raise Violation("a ticket gets one reply", f"ticket {ticket} of {self._issued} is answered again")
        exchange.decided_at = self._world.now
        self._held[ticket] = exchange, parts
        while self._owed in self._held:
            self._post(*self._held.pop(self._owed))
            self._owed += 1

    def close(self) -> None:
        """The host gives the connection up; what it has sent may still arrive."""
        if self.host_open:
            self.host_open = False
            self._unanswered.clear()
            self._held.clear()
            self._world.at(self._end_at(self._to_client_at), self._client_notices)

    # ── between them ─────────────────────────────────────────────────────────────────

    def _arrive(self, exchange: Exchange, frame: bytes) -> None:
        if self.host_open and self.host.is_open:
            self._issued += 1
            self._unanswered[self._issued] = exchange
            self.host.receive(self, self._issued, exchange, frame)

    def _post(self, exchange: Exchange, parts: list[Part] | None) -> None:
        if (parts is None) != exchange.is_unanswered:
            raise Violation("a ticket gets one reply", f"{exchange} is answered with {parts}")
        if parts is None or not self.host_open:
            return
        try:
            frame = b"".join(map(_bytes, parts))
        except OSError:
            self.host.drop(self)  # the file is gone that it was to be sent from
            return
        exchange.decode(frame)
        exchange.said_at = self._world.now
        self._world.note(self.host.name, "says", f"{exchange} {len(frame)} bytes {zlib.crc32(frame):08x}")
        for watcher in self._world.watchers:
            watcher.said(self.host, exchange)
        self._to_client_at = max(self._to_client_at, Millis(self._world.now + self._network.delay()))
        self._world.at(self._to_client_at, lambda: self._return(exchange))

    def _return(self, exchange: Exchange) -> None:
        if self.client_open:
            self.client.answered(exchange)

    def _end_at(self, underway_until: Millis) -> Millis:
        """When the other side hears of an end: after what is underway, or before, and then that is lost."""
        ends_at = Millis(self._world.now + self._network.delay())
        return ends_at if self._world.chance.random() < 0.5 else max(ends_at, underway_until)

    def _host_notices(self) -> None:
        if self.host_open:
            self.host.drop(self)

    def _client_notices(self) -> None:
        self._network.links.pop(self.number, None)
        if self.client_open:
            self.client_open = False
            self.client.cut_off()


def _bytes(part: Any) -> bytes:
    if not isinstance(part, FileSlice):
        return bytes(part)
    data = part.read()
    if len(data) != len(part):
        raise OSError(f"{part.file.path} was cut while it was being sent")
    return data
