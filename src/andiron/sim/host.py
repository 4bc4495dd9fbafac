"""A machine: a disk that stays, and a node on it that comes and goes.

It owns its node as edge/host.py owns the real one: events in, effects out, one step at a time.

    Reply, Close ─▶ link.py           Call ─▶ peers.py ─▶ Answered, Unanswered
    next_deadline ─▶ Woken            Flush, Work ─▶ background.py ─▶ Flushed, Finished

A frame is lent to the node for one step: then it is scribbled over, so that who kept a view of it is found out.

The controller's listeners are open from the start, since a node may need the others to get ready; the broker's then.

Ends: `stop` as on SIGTERM, `kill` as kill -9, `lose_power`. With `light_fuse` the latter two come in the midst of a
step, between two operations on the disk (disk.py). `pause` is SIGSTOP: what comes meanwhile waits, and is read before
the node is woken, whose time stood still (model/awake.py). A node that is broken, by its own word, ends as killed.

Read next: weather.py for when all that happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from andiron.broker.node.node import Node
from andiron.model.effects import (
    Call,
    Close,
    Connected,
    Disconnected,
    Effect,
    Event,
    Flush,
    Received,
    Reply,
    Woken,
    Work,
)
from andiron.model.errors import AndironError
from andiron.model.ids import NEVER, Millis
from andiron.sim.background import Background
from andiron.sim.changes import Changes
from andiron.sim.clock import Clock
from andiron.sim.disk import Killed, MemoryDisk
from andiron.sim.peers import Lane, Peers
from andiron.sim.watcher import End, Violation

if TYPE_CHECKING:
    from andiron.broker.settings.node_settings import NodeSettings
    from andiron.sim.exchange import Exchange
    from andiron.sim.link import Link
    from andiron.sim.network import Network
    from andiron.sim.world import Happening, World

LEAVE_MS = 30_000  # for others to take over what is led by a node that is told to stop
RESIGN_MS = 200  # for others to hear that it leads the metadata no more
GRACE_MS = 3_000  # for what is in flight then
LOOKS_EVERY_MS = 10
WAKES_MAX = 1_000  # in one millisecond


class Host:
    """One machine of a world."""

    def __init__(self, world: World, network: Network, settings: NodeSettings) -> None:
        self.world, self.settings = world, settings
        self.number = settings.node_id
        self.name = f"node-{self.number}"
        self.disk = MemoryDisk()
        for each in settings.log_dirs:
            self.disk.make_directory(each)
        self.disk.sync_directory("/")
        self.clock = Clock(lambda: world.now)
        self.node: Node | None = None
        self.boots, self.started_at = 0, Millis(-1)  # by the clock's reach
        self.paused_at = self.resumed_at = Millis(-1)  # by the world's time, the last time
        self.life = 0  # changes when a node comes or goes: what was under way for another is of no concern
        self.is_open = False  # to clients
        self.background, self.peers = Background(self), Peers(self, network)
        self.changed = Changes(self)  # replicas, since the last step
        self.event: type[Event] | None = None  # that the node took in last
        self._leaving = self._stopping = False
        self._end = End.KILLED  # that the fuse leads to
        self._links: dict[int, Link] = {}
        self._waits: list[Happening] | None = None  # for a paused node to go on
        self._wake_at, self._woken_at, self._wakes = NEVER, Millis(-1), 0
        world.hosts[self.number] = self

    @property
    def is_up(self) -> bool:
        return self.node is not None

    @property
    def is_ready(self) -> bool:
        """Whether a node is there, with its metadata."""
        return self.node is not None and self.node.ready

    @property
    def is_paused(self) -> bool:
        return self._waits is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the node's is under way."""
        return not self.background.flushing and not self.is_paused

    @property
    def links(self) -> list[Link]:
        """The connections of clients, as this end sees them."""
        return [link for link in self._links.values() if not isinstance(link.caller, Lane)]

    def listens(self, listener: str) -> bool:
        """Whether somebody is there to answer."""
        if listener in self.settings.controller_listeners:
            return self.node is not None and not self._stopping
        return self.is_open

    def note(self, what: str, about: str = "") -> None:
        """Write a line of history about this machine."""
        self.world.note(self.name, what, about)

    # ── life ─────────────────────────────────────────────────────────────────────────

    def format(self, cluster_id: str) -> None:
        """Make its directories those of a node of this cluster, which nobody can know before any node has started."""
        for number, directory in enumerate(self.settings.log_dirs):
            id = self.directory_id(number)
            told = f"version=1\ncluster.id={cluster_id}\nnode.id={self.number}\ndirectory.id={id}\n"
            self.disk.write_file(f"{directory}/meta.properties", told.encode())

    def directory_id(self, number: int) -> str:
        """What one of its directories is known by, in the form of a cluster."""
        return f"{self.name}-{number}".ljust(22, "0")

    def start(self) -> None:
        """Switch on. A start that fails for want of disk is an end, as it is of the real process."""
        if self.node is not None:
            return
        self.boots += 1
        self.started_at = self.clock.reach
        self.life += 1
        self.clock.restart()
        self._wake_at, self._leaving, self._stopping = NEVER, False, False
        self.note("starts", f"for the {self.boots}. time")
        self.changed = Changes(self)
        node = self.node = Node(self.settings, self.disk, self.world.chance.getrandbits(64))
        try:
            self._take(lambda: node.start(self.clock.now()))
        except Violation:
            raise
        except Exception as error:
            if not self._is_excused(error):
                raise Violation("a start succeeds", repr(error)) from error
            self._go_down(End.KILLED)

    def stop(self) -> None:
        """SIGTERM: others take over what is led here; what is in flight is completed; all is brought to the disk."""
        node = self.node
        if node is not None and not self._leaving:
            self.note("stops")
            self.world.tell(lambda watcher: watcher.leaves(self))
            self._leaving, until = True, Millis(self.world.now + LEAVE_MS)
            self.when_awake(lambda: self._tell(node.leave))
            self.when_awake(lambda: self._leave(until))

    def kill(self) -> None:
        """kill -9: nothing of what was written is lost."""
        self._go_down(End.KILLED)

    def lose_power(self) -> None:
        """The machine itself goes: what was not synced is left to chance."""
        if self.node is not None:
            self._go_down(End.POWER_LOST)
            return
        self.note("loses power")
        self.world.tell(lambda watcher: watcher.lost_power(self))
        self.disk.crash(self.world.chance)

    def light_fuse(self, length: int, end: End) -> None:
        """Let the end come at one of the next changes to the disk."""
        self.disk.fuse, self._end = length, end

    def burn_down(self) -> None:
        """The fuse has come to its end."""
        self._go_down(self._end)

    def pause(self, for_ms: int) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        if self.node is not None and self._waits is None:
            self.note("is paused", f"for {for_ms} ms")
            self.clock.stop()
            self.paused_at, self._waits, life = self.world.now, [], self.life
            self.world.after(for_ms, lambda: self.resume() if self.life == life else None)

    def resume(self) -> None:
        """Go on: with all that has come meanwhile, in its order."""
        if self._waits is not None:
            self.note("goes on")
            waits, self._waits = self._waits, None
            self.resumed_at, self._wake_at = self.world.now, NEVER
            self.clock.go_on()
            for happening in waits:
                happening()
            self._plan_waking()

    def when_awake(self, happening: Happening) -> None:
        """Let something happen to the node, now or when it is not paused any more."""
        if self._waits is None:
            happening()
        else:
            life = self.life
            self._waits.append(lambda: self.if_still(life, happening))

    def if_still(self, life: int, happening: Happening) -> None:
        """Let something happen unless the node is gone that it was for."""
        if self.life == life:
            self.when_awake(happening)

    # ── connections ──────────────────────────────────────────────────────────────────

    def connected(self, link: Link) -> None:
        self._links[link.number] = link
        self.when_awake(lambda: self.feed(Connected(link.number, link.listener, "sim")))

    def receive(self, link: Link, ticket: int, exchange: Exchange, frame: bytes) -> None:
        """A whole request has come in."""
        exchange.heard_at = self.world.now
        if exchange.is_watched:
            self.world.tell(lambda watcher: watcher.heard(self, exchange))
        buffer = bytearray(frame)
        self.note("hears", f"{exchange} from {link.caller.name}")
        self.feed(Received(link.number, ticket, memoryview(buffer)))
        buffer[:] = b"\xdd" * len(buffer)

    def drop(self, link: Link) -> None:
        """A connection is gone; the node hears of it, but never inside one of its steps."""
        link.close()
        if self._links.pop(link.number, None) is not None:
            self.later(Disconnected(link.number))

    # ── the node ─────────────────────────────────────────────────────────────────────

    def feed(self, event: Event) -> None:
        """Tell the node, and do what it says."""
        node = self.node
        if node is None:
            return
        self.event = type(event)
        self.note("step", self.event.__name__)
        try:
            self._take(lambda: node.step(event, self.clock.now()))
        except Violation:
            raise
        except Exception as error:
            raise Violation("a step does not fail", f"{type(event).__name__}: {error!r}") from error

    def later(self, event: Event) -> None:
        """Tell the node as soon as this step is over."""
        life = self.life
        self.world.after(0, lambda: self.if_still(life, lambda: self.feed(event)))

    def _take(self, step: Callable[[], list[Effect]]) -> None:
        try:
            self._carry_out(step())
        except Killed:
            self.burn_down()
            return
        node = self.node
        if node is None:
            return
        self.changed.stepped()
        self.world.tell_onlookers(lambda watcher: watcher.stepped(self))
        if node.ready and not self.is_open and not self._stopping:
            self.is_open = True
            self.note("is ready")
            self.world.tell(lambda watcher: watcher.came_up(self))
        if node.broken is not None and self.node is node:
            self.note("is broken", node.broken)
            self._go_down(End.KILLED)
        self._plan_waking()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Reply(conn, ticket, parts):
                    if conn in self._links:
                        self._links[conn].reply(ticket, parts)
                case Close(conn, reason):
                    self.note("closes", f"{conn}: {reason}")
                    if conn in self._links:
                        self.drop(self._links[conn])
                case Call():
                    self.peers.call(effect)
                case Flush(token, files):
                    self.background.flush(token, files)
                case Work():
                    self.background.work(effect)

    def _plan_waking(self) -> None:
        node = self.node
        deadline = NEVER if node is None else node.next_deadline()
        if deadline < NEVER:
            wake_at = Millis(self.world.now + self.clock.wait_ms(deadline))
            if wake_at < self._wake_at:
                self._wake_at, life = wake_at, self.life
                self.world.at(wake_at, lambda: self.if_still(life, lambda: self._wake(wake_at)))

    def _wake(self, planned: Millis) -> None:
        if self.node is None or self._wake_at != planned:
            return
        self._wake_at = NEVER
        if self.node.next_deadline() > self.clock.now():
            self._plan_waking()
            return
        self._wakes = self._wakes + 1 if self._woken_at == self.world.now else 0
        self._woken_at = self.world.now
        if self._wakes > WAKES_MAX:
            raise Violation("a woken node moves on", f"its deadline is still {self.node.next_deadline()}")
        self.feed(Woken())

    # ── ends ─────────────────────────────────────────────────────────────────────────

    def _tell(self, step: Callable[[Millis], list[Effect]]) -> None:
        """Have the node do something that is no event."""
        try:
            self._take(lambda: step(self.clock.now()))
        except Violation:
            raise
        except Exception as error:
            if not self._is_excused(error):
                raise Violation("a stop succeeds", repr(error)) from error
            self._go_down(End.KILLED)

    def _leave(self, until: Millis) -> None:
        """Go on serving until others have taken over; then let them hear who leads the metadata no more."""
        node, life = self.node, self.life
        if node is None:
            return
        if not node.has_left and self.world.now < until:
            self.world.after(LOOKS_EVERY_MS, lambda: self.if_still(life, lambda: self._leave(until)))
            return
        self._tell(node.resign)
        if self.life == life:
            self._resign(Millis(self.world.now + RESIGN_MS))

    def _resign(self, until: Millis) -> None:
        life = self.life
        if self.peers.has_unsent and self.world.now < until:
            self.world.after(LOOKS_EVERY_MS, lambda: self.if_still(life, lambda: self._resign(until)))
            return
        self._stopping, self.is_open = True, False
        self._wind_down(Millis(self.world.now + GRACE_MS))

    def _wind_down(self, until: Millis) -> None:
        node, life = self.node, self.life
        if self.background.flushing and self.world.now < until:
            self.world.after(1, lambda: self.if_still(life, lambda: self._wind_down(until)))
            return
        for token in list(self.background.flushing):
            if self.life == life:
                self.background.flushed(token)
        if node is None or self.life != life:
            return
        try:
            if node.is_settled:
                node.stop(self.clock.now())
            self._go_down(End.STOPPED if node.is_settled else End.KILLED)
        except Killed:
            self.burn_down()
        except Violation:
            raise
        except Exception as error:
            if not self._is_excused(error):
                raise Violation("a stop succeeds", repr(error)) from error
            self._go_down(End.KILLED)

    def _go_down(self, end: End) -> None:
        if self.node is None:
            return
        self.note("goes down", end.value)
        self.disk.fuse = None
        self.world.tell(lambda watcher: watcher.went_down(self, end))
        self.node, self.is_open, self._waits = None, False, None
        self.life += 1
        self.background.forget()
        self.peers.close_all()
        for link in list(self._links.values()):
            link.close()
        self._links.clear()
        if end is End.POWER_LOST:
            self.disk.crash(self.world.chance)

    def _is_excused(self, error: Exception) -> bool:
        """Whether the disk is to blame, which a start and a stop cannot do without."""
        return self.disk.is_bad and isinstance(error, OSError | AndironError)
