"""A connection: two ways, each in order, and ends that come at a bad time.

    caller ── send ──▶ ···· delay ···· ──▶ ticket n ──▶ node
    caller ◀── answered ◀── ···· delay ···· ◀── in turn? ◀── Reply(ticket n)

A connection keeps the order of its frames, as TCP does, and nothing else: when it breaks, what was underway may still
arrive or be lost, and nobody is told which. So a caller never knows whether a request that got no answer was carried
out. Nothing is delivered twice or lost in the midst of a connection: TCP would not do that. What looks like it to a
node is a caller that asks again after an answer was lost, or a request that was long underway when its caller had
given up and asked elsewhere.

Where there is a rift between the two machines (network.py), what was sent waits for it to heal, and is lost if its
sender gives up before.

The law of tickets: each gets exactly one reply, in turn, unless the connection ends.

Read next: network.py; peers.py and clients/client.py for who calls.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from andiron.log.disk import FileSlice
from andiron.model.effects import Part
from andiron.model.ids import Millis
from andiron.sim.exchange import Exchange
from andiron.sim.watcher import Violation

if TYPE_CHECKING:
    from andiron.sim.host import Host
    from andiron.sim.network import Network
    from andiron.sim.world import World


class Caller(Protocol):
    """Whoever has made a connection."""

    name: str

    @property
    def machine(self) -> str:
        """Where it is."""

    def answered(self, link: Link, exchange: Exchange) -> None:
        """An answer has arrived."""

    def cut_off(self, link: Link) -> None:
        """The other side has ended the connection."""

    def hang_up(self, link: Link) -> None:
        """End the connection from this side."""


class Way:
    """One direction of a connection."""

    __slots__ = ("_at", "_network", "_places", "_stuck", "_world", "is_abandoned")

    def __init__(self, world: World, network: Network, source: str, target: str) -> None:
        self._world, self._network, self._places = world, network, (source, target)
        self._at = world.now
        self._stuck: list[Callable[[], None]] = []  # before a rift
        self.is_abandoned = False  # by its sender: what cannot get through now never will

    def carry(self, arrival: Callable[[], None]) -> None:
        """Let something arrive, after what was sent before it."""
        self._at = max(self._at, Millis(self._world.now + self._network.delay()))
        self._world.at(self._at, lambda: self._arrive(arrival))

    def end(self, arrival: Callable[[], None]) -> None:
        """Let the other side hear of the end: after what is underway, or before, and then that is lost."""
        self.is_abandoned = True
        self._stuck.clear()
        ends_at = Millis(self._world.now + self._network.delay())
        if self._world.chance.random() >= 0.5:
            ends_at = max(ends_at, self._at)
        self._world.at(ends_at, lambda: self._arrive(arrival, is_end=True))

    def heal(self) -> None:
        """There is no rift any more: what waits before it goes on its way, and nothing overtakes it."""
        if self._stuck:
            self._world.after(self._network.delay(), self._let_go)

    def _let_go(self) -> None:
        if self._network.carries(*self._places):
            stuck, self._stuck = self._stuck, []
            for arrival in stuck:
                arrival()

    def _arrive(self, arrival: Callable[[], None], *, is_end: bool = False) -> None:
        if not self._stuck and self._network.carries(*self._places):
            arrival()
        elif is_end or not self.is_abandoned:
            self._stuck.append(arrival)


class Link:
    """One connection, both ends of it."""

    def __init__(
        self, world: World, network: Network, number: int, caller: Caller, host: Host, listener: str
    ) -> None:
        self._world, self._network = world, network
        self.number, self.caller, self.host, self.listener = number, caller, host, listener
        self.caller_open = self.host_open = True
        self._there = Way(world, network, caller.machine, host.name)
        self._back = Way(world, network, host.name, caller.machine)
        self._issued = 0
        self._owed = 1
        self._unanswered: dict[int, Exchange] = {}
        self._held: dict[int, tuple[Exchange, list[Part] | None]] = {}

    @property
    def unanswered(self) -> list[Exchange]:
        """What the node has been asked and has not answered."""
        return list(self._unanswered.values())

    def heal(self) -> None:
        """A rift has closed."""
        self._there.heal()
        self._back.heal()

    # ── the caller's end ─────────────────────────────────────────────────────────────

    def send(self, exchange: Exchange) -> None:
        """Send a request off."""
        frame = exchange.encode(self.caller.name)
        self._there.carry(lambda: self._arrive(exchange, frame))

    def hang_up(self) -> None:
        """The caller gives the connection up; what it has sent may still arrive."""
        if self.caller_open:
            self.caller_open = False
            self._there.end(self._host_notices)

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
            self._back.end(self._caller_notices)

    # ── between them ─────────────────────────────────────────────────────────────────

    def _arrive(self, exchange: Exchange, frame: bytes) -> None:
        self.host.when_awake(lambda: self._deliver(exchange, frame))

    def _deliver(self, exchange: Exchange, frame: bytes) -> None:
        if self.host_open and self.host.listens(self.listener):
            self._issued += 1
            self._unanswered[self._issued] = exchange
            self.host.receive(self, self._issued, exchange, frame)

    def _post(self, exchange: Exchange, parts: list[Part] | None) -> None:
        if (parts is None) != exchange.is_unanswered:
            raise Violation("a ticket gets one reply", f"{exchange} is answered with {parts}")
        if parts is None or not self.host_open:
            return
        try:
            frame = joined(parts)
        except OSError:
            self.host.drop(self)  # the file is gone that it was to be sent from
            return
        exchange.decode(frame)
        exchange.said_at = self._world.now
        self._world.note(self.host.name, "says", f"{exchange} {len(frame)} bytes {zlib.crc32(frame):08x}")
        if exchange.is_watched:
            self._world.tell(lambda watcher: watcher.said(self.host, exchange))
        self._back.carry(lambda: self._return(exchange))

    def _return(self, exchange: Exchange) -> None:
        if self.caller_open:
            self.caller.answered(self, exchange)

    def _host_notices(self) -> None:
        if self.host_open:
            self.host.drop(self)

    def _caller_notices(self) -> None:
        self._network.links.pop(self.number, None)
        if self.caller_open:
            self.caller_open = False
            self.caller.cut_off(self)


def joined(parts: list[Part]) -> bytes:
    """A frame as it goes over the wire; what is to be sent from a file is read now."""
    return b"".join(map(_bytes, parts))


def _bytes(part: Any) -> bytes:
    if not isinstance(part, FileSlice):
        return bytes(part)
    data = part.read()
    if len(data) != len(part):
        raise OSError(f"{part.file.path} was cut while it was being sent")
    return data
