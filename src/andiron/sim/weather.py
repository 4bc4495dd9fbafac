"""The weather: what goes wrong, how often, and for how long. From calm to storm.

    network   connections cut; frames that take seconds
    disk      full for a while; slow to sync; unable to sync
    process   stopped, or killed, between two steps or in the midst of one
    machine   the power goes; bits turn over while it is off; its clock jumps

All is chosen from the world's chance. A node that went down comes back by itself after a while; the
disk may not be ready for it, and then it tries again. When it clears up, everything heals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from andiron.sim.host import Host
from andiron.sim.network import Network
from andiron.sim.rot import Rot
from andiron.sim.watcher import End, Watcher
from andiron.sim.world import World


class Mood(NamedTuple):
    """How bad it gets."""

    name: str
    calm_ms: int  # between two faults, on average
    faults: tuple[str, ...]  # drawn from evenly
    rot: float = 0.0  # chance of turned bits each time that a node is down


NETWORK = ("cut", "cut", "lag")
DISK = ("full", "slow")
PROCESS = ("stop", "kill", "kill")
MACHINE = ("power", "power", "jump", "dead disk")

MOODS = (
    Mood("calm", 10_000, ("cut",)),
    Mood("breeze", 4_000, (*NETWORK, *DISK)),
    Mood("showers", 6_000, (*NETWORK, *DISK, *PROCESS)),
    Mood("gale", 8_000, (*PROCESS, *MACHINE)),
    Mood("storm", 4_000, (*NETWORK, *DISK, *PROCESS, *MACHINE, *MACHINE), rot=0.2),
)


class Weather(Watcher):
    """Makes things go wrong with one host and its connections."""

    def __init__(self, world: World, network: Network, host: Host, mood: Mood, rot: Rot) -> None:
        self._world, self._network, self._host, self._mood, self._rot = world, network, host, mood, rot
        self._chance = world.chance
        self._clear = False
        self._calm_flush_ms, self._calm_delay_ms = host.flush_ms_max, network.delay_ms_max
        self._faults: dict[str, Callable[[], None]] = {
            "cut": self._cut,
            "lag": self._lag,
            "full": self._full,
            "slow": self._slow,
            "stop": host.stop,
            "kill": lambda: self._end(End.KILLED),
            "power": lambda: self._end(End.POWER_LOST),
            "jump": self._jump,
            "dead disk": self._dead_disk,
        }

    def begin(self) -> None:
        """Let it brew."""
        self._world.after(int(self._chance.expovariate(1 / self._mood.calm_ms)) + 1, self._strike)

    def clear_up(self) -> None:
        """No more faults, and those that last are over."""
        self._clear = True
        self._heal()
        self._host.disk.fuse = None

    def went_down(self, host: Host, end: End) -> None:
        """It will come back; but a machine that is off may suffer other things."""
        if host is not self._host:
            return
        down_ms = self._chance.choice([10, 300, 3_000])
        if end is End.STOPPED and not self._clear and self._chance.random() < 0.3:
            self._world.after(down_ms // 2, lambda: None if host.is_up else host.lose_power())
        if not self._clear and self._chance.random() < self._mood.rot:
            self._world.after(down_ms // 2, lambda: None if host.is_up else self._rot.strike(host))
        self._world.after(down_ms, self._start)

    # ── faults ───────────────────────────────────────────────────────────────────────

    def _strike(self) -> None:
        if not self._clear:
            fault = self._chance.choice(self._mood.faults)
            self._world.note("weather", fault)
            self._faults[fault]()
            self.begin()

    def _start(self) -> None:
        """Sometimes a node does not live to see the end of its start."""
        if not self._clear and "kill" in self._mood.faults and self._chance.random() < 0.2:
            self._host.light_fuse(self._chance.randint(0, 60), self._chance.choice([End.KILLED, self._worst]))
        self._host.start()

    @property
    def _worst(self) -> End:
        return End.POWER_LOST if "power" in self._mood.faults else End.KILLED

    def _cut(self) -> None:
        links = [link for link in self._network.links.values() if link.client_open and link.host_open]
        for link in self._chance.sample(links, min(len(links), self._chance.choice([1, 1, 2, 9]))):
            if self._chance.random() < 0.5:
                link.client.hang_up()
            else:
                self._host.drop(link)

    def _lag(self) -> None:
        self._network.delay_ms_max = self._chance.choice([200, 1_000, 4_000])
        self._for_a_while()

    def _full(self) -> None:
        self._host.disk.fill_up(self._chance.choice([0, 100, 1_000, 3_000]))
        self._for_a_while()

    def _slow(self) -> None:
        self._host.flush_ms_max = self._chance.choice([100, 1_000, 5_000])
        self._for_a_while()

    def _end(self, end: End) -> None:
        """Now, or in the midst of what the node does next."""
        host = self._host
        if self._clear:
            return
        if host.is_up and self._chance.random() < 0.7:
            host.light_fuse(self._chance.choice([0, 1, 2, 5, 20]), end)
        elif end is End.KILLED:
            host.kill()
        else:
            host.lose_power()

    def _jump(self) -> None:
        self._host.clock.jump(self._chance.choice([-60_000, -1_000, 1_000, 60_000, 600_000]))

    def _dead_disk(self) -> None:
        """Partitions whose sync fails are of no use until a restart."""
        self._host.disk.fail_syncs()
        self._for_a_while()
        self._world.after(6_000, lambda: self._end(self._chance.choice([End.KILLED, End.POWER_LOST])))

    def _for_a_while(self) -> None:
        self._world.after(self._chance.choice([300, 1_500, 5_000]), self._heal)

    def _heal(self) -> None:
        self._host.disk.free_up()
        self._host.disk.fail_syncs(False)
        self._host.flush_ms_max = self._calm_flush_ms
        self._network.delay_ms_max = self._calm_delay_ms
