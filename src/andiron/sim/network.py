"""What connects machines: who listens where, how long frames take, and between whom there is a rift.

    rift ({node-1}, {node-2, node-3, producer-1})      nothing gets from the one side to the other
    delay_ms_max                                       frames take longer; those of different links overtake each other

A rift has a direction, so there are those that only the answers do not cross. Links stay as they are while there is
one: what was sent waits (link.py), both sides lose patience or do not, and nobody can connect.

Read next: link.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from andiron.model.ids import Address
from andiron.sim.link import Caller, Link

if TYPE_CHECKING:
    from andiron.sim.host import Host
    from andiron.sim.world import World

CALM_DELAY_MS = 10
LATE_MS, LATE_IN_A_CLUSTER_MS = 4_500, 12_000  # lags, and nodes that are paused (weather.py)


class Network:
    """How long frames take, and what connects whom."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._count = 0
        self._rifts: list[tuple[frozenset[str], frozenset[str]]] = []
        self.delay_ms_max = CALM_DELAY_MS
        self.links: dict[int, Link] = {}  # with at least one end open
        self._machines: dict[str, None] = {}  # that have ever called

    # ── connecting ───────────────────────────────────────────────────────────────────

    def locate(self, address: Address) -> tuple[Host, str] | None:
        """The machine that an address leads to, and which listener of it; None if there is none."""
        for host in self._world.hosts.values():
            for listener in (*host.settings.advertised, *host.settings.listeners):
                if (listener.host, listener.port) == address:
                    return host, listener.name
        return None

    def connect(self, caller: Caller, host: Host, listener: str | None = None) -> Link | None:
        """A new connection, to the first listener for clients if to no other; None if nobody answers there."""
        listener = listener or host.settings.advertised[0].name
        self._machines[caller.machine] = None
        if not host.listens(listener) or not self.reaches(caller.machine, host.name):
            return None
        self._count += 1
        link = Link(self._world, self, self._count, caller, host, listener)
        self.links[self._count] = link
        host.connected(link)
        return link

    @property
    def clients(self) -> list[str]:
        """The machines that have called and are no nodes."""
        nodes = [host.name for host in self._world.hosts.values()]
        return [machine for machine in self._machines if machine not in nodes]

    @property
    def late_ms(self) -> int:
        """Longer than anything takes to arrive of which its sender has given up hope."""
        return LATE_MS if len(self._world.hosts) == 1 else LATE_IN_A_CLUSTER_MS

    def delay(self) -> int:
        return self._world.chance.randint(0, self.delay_ms_max)

    # ── rifts ────────────────────────────────────────────────────────────────────────

    def part(self, some: Iterable[str], others: Iterable[str], *, one_way: bool = False) -> None:
        """Let nothing get from these machines to those, nor back unless it is a rift that has one way only."""
        here, there = frozenset(some), frozenset(others)
        self._rifts.append((here, there))
        if not one_way:
            self._rifts.append((there, here))

    def heal(self) -> None:
        """Close every rift."""
        if self._rifts:
            self._rifts.clear()
            for link in list(self.links.values()):
                link.heal()

    def carries(self, source: str, target: str) -> bool:
        """Whether something sent from one machine gets to the other at the moment."""
        return not self._rifts or not any(source in here and target in there for here, there in self._rifts)

    def reaches(self, one: str, other: str) -> bool:
        """Whether two machines hear each other."""
        return self.carries(one, other) and self.carries(other, one)
