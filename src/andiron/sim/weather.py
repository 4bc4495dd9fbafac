"""The weather: makes things go wrong, one after the other, and lets them pass. From calm to storm (moods.py).

    cut, lag, rift           connections, all frames, some machines from others, for a while
    full, no inodes          a node's disk has no room, for bytes or for files, for a while
    slow, dead disk          it takes long to sync, or cannot
    stop, kill, power        a node, now or in the midst of what it does next; crowd: several at once; roll: all in turn
    pause, jump              a node's time

All is chosen from the world's chance. A node that went down comes back by itself after a while; the
disk may not be ready for it, and then it tries again. When it clears up, everything heals.

Unless the mood says otherwise, no fault takes away the majority: with as many in trouble as may be, it passes by.
"""

from __future__ import annotations

from collections.abc import Callable

from andiron.sim.host import Host
from andiron.sim.moods import Mood
from andiron.sim.network import Network
from andiron.sim.rot import Rot
from andiron.sim.watcher import End, Watcher
from andiron.sim.world import World

ROLLS_EVERY_MS = 500  # look whether the last one is back
LONG_PAUSE_MS = 5_000


class Weather(Watcher):
    """Makes things go wrong with hosts and their connections."""

    def __init__(
        self, world: World, network: Network, mood: Mood, rot: Rot, *, clocks_set_ms: int = 0
    ) -> None:
        self._world, self._network, self._mood, self._rot = world, network, mood, rot
        self._clocks_set_ms = clocks_set_ms
        self._hosts = list(world.hosts.values())
        self._chance = world.chance
        self._clear = False
        self._calm_flush_ms = self._hosts[0].background.flush_ms_max
        self._calm_delay_ms = network.delay_ms_max
        self._apart: list[Host] = []  # on the wrong side of a rift
        self._doomed: list[Host] = []  # partitions of theirs may have failed
        self._faults: dict[str, Callable[[], None]] = {
            "cut": self._cut,
            "lag": self._lag,
            "rift": self._rift,
            "full": lambda: self._to_one(self._full),
            "no inodes": lambda: self._to_one(self._no_inodes),
            "slow": lambda: self._to_one(self._slow),
            "stop": lambda: self._to_one(Host.stop),
            "kill": lambda: self._to_one(lambda host: self._end(host, End.KILLED)),
            "power": lambda: self._to_one(lambda host: self._end(host, End.POWER_LOST)),
            "jump": lambda: self._to_one(self._jump),
            "dead disk": lambda: self._to_one(self._dead_disk),
            "pause": lambda: self._to_one(self._pause),
            "crowd": self._crowd,
            "roll": lambda: self._roll(list(self._hosts)),
        }

    def begin(self) -> None:
        """Let it brew."""
        self._brew()
        if self._clocks_set_ms:
            self._world.after(self._clocks_set_ms, self._set_a_clock)

    def clear_up(self) -> None:
        """No more faults, and those that last are over."""
        self._clear = True
        self._heal()
        for host in self._hosts:
            host.disk.fuse = None
            host.resume()

    def went_down(self, host: Host, end: End) -> None:
        """It will come back; but a machine that is off may suffer other things."""
        self._doomed = [each for each in self._doomed if each is not host]
        down_ms = self._chance.choice([10, 300, 3_000])
        if end is End.STOPPED and not self._clear and self._chance.random() < 0.3:
            self._world.after(down_ms // 2, lambda: None if host.is_up else host.lose_power())
        if not self._clear and self._chance.random() < self._mood.rot:
            self._world.after(down_ms // 2, lambda: None if host.is_up else self._rot.strike(host))
        self._world.after(down_ms, lambda: self._start(host))

    def _brew(self) -> None:
        self._world.after(int(self._chance.expovariate(1 / self._mood.calm_ms)) + 1, self._strike)

    # ── whom it strikes ──────────────────────────────────────────────────────────────

    def _strike(self) -> None:
        if not self._clear:
            fault = self._chance.choice(self._mood.faults)
            self._world.note("weather", fault)
            self._faults[fault]()
            self._brew()

    def _to_one(self, fault: Callable[[Host], None]) -> None:
        host = self._hosts[0] if len(self._hosts) == 1 else self._chance.choice(self._hosts)
        if self._may_trouble([host]):
            fault(host)

    def _may_trouble(self, some: list[Host]) -> bool:
        """Whether enough are left if these fail as well."""
        if len(self._hosts) == 1 or not self._mood.spares:
            return True
        troubled = [host for host in self._hosts if host in some or self._is_troubled(host)]
        return all(
            2 * len([host for host in troubled if role in host.settings.roles]) < len(those)
            for role, those in self._roles().items()
        )

    def _is_troubled(self, host: Host) -> bool:
        is_well = host.is_ready and not host.is_paused and not host.disk.is_bad and host.disk.fuse is None
        return not is_well or host in self._apart or host in self._doomed

    def _roles(self) -> dict[str, list[Host]]:
        found: dict[str, list[Host]] = {}
        for host in self._hosts:
            for role in host.settings.roles:
                found.setdefault(role, []).append(host)
        return found

    # ── the network ──────────────────────────────────────────────────────────────────

    def _cut(self) -> None:
        links = [link for link in self._network.links.values() if link.caller_open and link.host_open]
        for link in self._chance.sample(links, min(len(links), self._chance.choice([1, 1, 2, 9]))):
            if self._chance.random() < 0.5:
                link.caller.hang_up(link)
            else:
                link.host.drop(link)

    def _lag(self) -> None:
        self._network.delay_ms_max = self._chance.choice([200, 1_000, 4_000])
        self._for_a_while()

    def _rift(self) -> None:
        """Some nodes on one side, the others on the other; clients on either, on both, or with one of the sides."""
        chance = self._chance
        some = chance.sample(self._hosts, chance.randint(1, max(1, len(self._hosts) // 2)))
        if not self._may_trouble(some):
            return
        here, there = [host.name for host in some], [host.name for host in self._hosts if host not in some]
        for machine in self._network.clients:
            side = chance.choice([here, there, there, None])
            if side is not None:
                side.append(machine)
        one_way = chance.random() < 0.3
        if one_way and chance.random() < 0.5:
            here, there = there, here
        self._apart = some
        self._world.note(
            "weather", "parts", f"{' '.join(here)} {'->' if one_way else '<->'} {' '.join(there)}"
        )
        self._network.part(here, there, one_way=one_way)
        self._for_a_while()

    # ── disks ────────────────────────────────────────────────────────────────────────

    def _full(self, host: Host) -> None:
        host.disk.fill_up(self._chance.choice([0, 100, 1_000, 3_000]))
        self._for_a_while()

    def _no_inodes(self, host: Host) -> None:
        """Appends succeed, and what is written to a file of its own does not: a checkpoint, the next segment."""
        host.disk.use_up_inodes()
        self._for_a_while()

    def _slow(self, host: Host) -> None:
        host.background.flush_ms_max = self._chance.choice([100, 1_000, 5_000])
        self._for_a_while()

    def _dead_disk(self, host: Host) -> None:
        """Partitions whose sync fails are of no use until a restart."""
        host.disk.fail_syncs()
        self._doomed.append(host)
        self._for_a_while()
        self._world.after(6_000, lambda: self._relieve(host))

    def _relieve(self, host: Host) -> None:
        if len(self._hosts) == 1 or host in self._doomed:
            self._end(host, self._chance.choice([End.KILLED, End.POWER_LOST]))

    # ── nodes ────────────────────────────────────────────────────────────────────────

    def _start(self, host: Host) -> None:
        """Sometimes a node does not live to see the end of its start."""
        if not self._clear and "kill" in self._mood.faults and self._chance.random() < 0.2:
            host.light_fuse(self._chance.randint(0, 60), self._chance.choice([End.KILLED, self._worst]))
        host.start()

    @property
    def _worst(self) -> End:
        return End.POWER_LOST if "power" in self._mood.faults else End.KILLED

    def _end(self, host: Host, end: End) -> None:
        """Now, or in the midst of what the node does next."""
        if self._clear:
            return
        if host.is_up and self._chance.random() < 0.7:
            host.light_fuse(self._chance.choice([0, 1, 2, 5, 20]), end)
        elif end is End.KILLED:
            host.kill()
        else:
            host.lose_power()

    def _crowd(self) -> None:
        """Several at once, all of them perhaps."""
        end = self._chance.choice([End.KILLED, self._worst])
        for host in self._chance.sample(self._hosts, self._chance.randint(1, len(self._hosts))):
            self._end(host, end)

    def _roll(self, left: list[Host]) -> None:
        """One after the other is stopped, when the last one is back."""
        if left and not self._clear:
            host, *others = left
            if self._may_trouble([host]):
                host.stop()
            self._world.after(ROLLS_EVERY_MS, lambda: self._roll_on(host, others))

    def _roll_on(self, host: Host, left: list[Host]) -> None:
        if host.is_ready:
            self._roll(left)
        else:
            self._world.after(ROLLS_EVERY_MS, lambda: self._roll_on(host, left))

    def _pause(self, host: Host) -> None:
        """One stands still; or, as on a machine that is starved, all do: nothing is lost by that."""
        for_ms = self._chance.choice([100, 1_000, LONG_PAUSE_MS])
        is_shared = for_ms == LONG_PAUSE_MS and self._world.now % 2
        for each in self._hosts if is_shared else [host]:
            each.pause(for_ms)

    def _jump(self, host: Host) -> None:
        host.clock.jump(self._chance.choice([-60_000, -1_000, 1_000, 60_000, 600_000]))

    def _set_a_clock(self) -> None:
        """No trouble to anybody: time that is measured goes on evenly."""
        if not self._clear:
            self._chance.choice(self._hosts).clock.jump(self._chance.choice([-60_000, -5_000, 5_000, 60_000]))
            self._world.after(self._clocks_set_ms, self._set_a_clock)

    # ── and that it passes ───────────────────────────────────────────────────────────

    def _for_a_while(self) -> None:
        self._world.after(self._chance.choice([300, 1_500, 5_000]), self._heal)

    def _heal(self) -> None:
        for host in self._hosts:
            host.disk.free_up()
            host.disk.fail_syncs(False)
            host.background.flush_ms_max = self._calm_flush_ms
        self._network.delay_ms_max = self._calm_delay_ms
        self._network.heal()
        self._apart = []
