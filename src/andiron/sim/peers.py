"""Calls to other nodes, as edge/peers.py makes them: a link for each address and lane, and every call comes back.

    Call(token, to, lane) ─▶ the lane of (to, lane) ─▶ link.py ─▶ that node ─▶ Answered(token)
                             connects if it has not       broken, late, nobody there ─▶ Unanswered(token)

A call is late by the clock of the node that made it. A lane on which one is late, or whose link breaks, is given up
with all that wait in it, and the next call makes another. Where nobody listens one is refused after a little while;
before a rift nothing is heard at all, and the lane tries to connect until a call is late.

As at the real edge, the node hears of a failure in a later step, never while its effects are carried out; a frame is
lent to it for one step.

Read next: host.py, which carries out what the node says to an answer.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from andiron.model.effects import Answered, Call, Unanswered
from andiron.model.ids import Address, Millis
from andiron.sim.exchange import Errand, Exchange
from andiron.sim.link import Link, joined

if TYPE_CHECKING:
    from andiron.sim.host import Host
    from andiron.sim.network import Network

KNOCKS_EVERY_MS = 1_000  # while nobody answers at all


class Peers:
    """The calls of one node, by where they go."""

    def __init__(self, host: Host, network: Network) -> None:
        self.host, self.network = host, network
        self._lanes: dict[tuple[Address, str], Lane] = {}

    @property
    def has_unsent(self) -> bool:
        """Whether something is to be said to somebody who could not be reached yet."""
        return any(lane.is_waiting_for_a_link for lane in self._lanes.values())

    def call(self, call: Call) -> None:
        """Ask; what comes of it is an event of a later step."""
        key = call.to, call.lane
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(self, *key)
        lane.ask(call)

    def gave_up(self, lane: Lane, reason: str) -> None:
        """A lane is of no more use."""
        self._lanes.pop(lane.key, None)
        for errand in lane.waiting:
            self.host.note("no answer", f"{errand}: {reason}")
            self.host.later(Unanswered(errand.correlation, f"{lane.to}: {reason}"))
        lane.waiting.clear()

    def close_all(self) -> None:
        """The node is gone, and nobody waits any more."""
        for lane in list(self._lanes.values()):
            lane.waiting.clear()
            lane.give_up("the node is gone")


class Lane:
    """One connection to another node, made when it is needed."""

    def __init__(self, peers: Peers, to: Address, lane: str) -> None:
        self.key, self.to = (to, lane), to
        self.name = self.machine = peers.host.name
        self.waiting: deque[Errand] = deque()
        self._peers, self._host, self._network = peers, peers.host, peers.network
        self._link: Link | None = None
        self._is_over = False
        self._host.world.after(self._network.delay(), self._connect)

    @property
    def is_waiting_for_a_link(self) -> bool:
        return self._link is None and bool(self.waiting)

    def ask(self, call: Call) -> None:
        """Send a request, or keep it until there is a link."""
        world, clock = self._host.world, self._host.clock
        until = Millis(clock.now() + call.timeout_ms)
        errand = Errand(call.token, joined(call.parts), world.now, until)
        self._host.note("calls", f"{errand} at {self.to} ({self.key[1]})")
        self.waiting.append(errand)
        world.after(call.timeout_ms, lambda: self._check(errand))
        if self._link is not None:
            self._link.send(errand)

    def give_up(self, reason: str) -> None:
        """Hang up; what waits is unanswered."""
        self._is_over = True
        if self._link is not None:
            self._link.hang_up()
        self._peers.gave_up(self, reason)

    # ── what happens to it ───────────────────────────────────────────────────────────

    def answered(self, link: Link, exchange: Exchange) -> None:
        self._host.when_awake(lambda: self._take(exchange))

    def cut_off(self, link: Link) -> None:
        self._host.when_awake(lambda: self._broke("it closed the connection"))

    def hang_up(self, link: Link) -> None:
        self._broke("the connection broke")

    def _broke(self, reason: str) -> None:
        if not self._is_over:
            self.give_up(reason)

    def _take(self, exchange: Exchange) -> None:
        if self._is_over:
            return
        errand = self.waiting.popleft()
        assert errand is exchange, "a link keeps the order"
        buffer = bytearray(exchange.response)
        self._host.feed(Answered(errand.correlation, memoryview(buffer)))
        buffer[:] = b"\xdd" * len(buffer)

    def _connect(self) -> None:
        if self._is_over:
            return
        found = self._network.locate(self.to)
        if found is not None and not self._network.reaches(self.machine, found[0].name):
            self._host.world.after(KNOCKS_EVERY_MS, self._connect)
            return
        self._link = self._network.connect(self, *found) if found is not None else None
        if self._link is None:
            self._host.when_awake(lambda: self._broke("connection refused"))
            return
        for errand in self.waiting:
            self._link.send(errand)

    def _check(self, errand: Errand) -> None:
        """Whether a call is late: the clock may not agree with the world's time."""
        if self._is_over or errand not in self.waiting:
            return
        if self._host.is_paused:
            self._host.when_awake(lambda: self._check(errand))
            return
        wait_ms = self._host.clock.wait_ms(errand.until)
        if wait_ms:
            self._host.world.after(wait_ms, lambda: self._check(errand))
        else:
            self._late(errand)

    def _late(self, errand: Errand) -> None:
        if not self._is_over and errand in self.waiting:
            self.give_up("no answer in time")
