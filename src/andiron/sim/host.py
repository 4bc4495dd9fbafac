"""A machine: a disk that stays, and a node on it that comes and goes.

It owns its node as edge/host.py owns the real one: events in, effects out, one step at a time.

    Reply, Close ─▶ network.py        Flush ─▶ a while ─▶ the disk ─▶ Flushed
    next_deadline ─▶ Woken            Work  ─▶ a while ─▶ job.run  ─▶ Finished

A flush brings to the disk what the files held when it was asked for, and not what was added since.
A job goes through pickle, as it does between processes, and works at some moment between being
asked for and being reported: what the node does before and after that moment, it does not know of.

A frame is lent to the node for one step: after it the bytes are scribbled over, so that a node
that kept a view of them is found out.

Ends: `stop` as on SIGTERM, `kill` as kill -9, `lose_power`. With `light_fuse` the latter two come in
the midst of a step, between two operations on the disk (disk.py).

Read next: weather.py for when all that happens.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING

from andiron.broker.node import Node
from andiron.model.effects import (
    Close,
    Connected,
    Disconnected,
    Effect,
    Event,
    Finished,
    Flush,
    Flushed,
    Received,
    Reply,
    Woken,
    Work,
)
from andiron.model.errors import AndironError
from andiron.model.ids import NEVER, Millis
from andiron.sim.clock import Clock
from andiron.sim.disk import Killed, MemoryDisk, MemoryFile
from andiron.sim.watcher import End, Violation

if TYPE_CHECKING:
    from andiron.broker.node_settings import NodeSettings
    from andiron.sim.network import Exchange, Link
    from andiron.sim.world import World

LISTENER = "PLAINTEXT"
GRACE_MS = 3_000  # for what is in flight when the node is told to stop
WAKES_MAX = 1_000  # in one millisecond

Begun = list[tuple[MemoryFile, int]]


class Host:
    """One machine of a world."""

    def __init__(self, world: World, settings: NodeSettings) -> None:
        self.world, self.settings = world, settings
        self.number = settings.node_id
        self.name = f"node-{self.number}"
        self.disk = MemoryDisk()
        for directory in settings.log_dirs:
            self.disk.make_directory(directory)
        self.disk.sync_directory("/")
        self.clock = Clock(lambda: world.now)
        self.node: Node | None = None
        self.boots = 0
        self.started_at = Millis(-1)  # by the clock's reach
        self._life = 0  # changes when a node comes or goes: what was under way for another is of no concern
        self.is_open = False  # to clients
        self.flush_ms_max, self.job_ms_max = 5, 200
        self._stopping = False
        self._end = End.KILLED  # that the fuse leads to
        self._links: dict[int, Link] = {}
        self._flushing: dict[int, Begun] = {}
        self._wake_at = NEVER
        self._wakes = 0
        self._woken_at = Millis(-1)

    @property
    def is_up(self) -> bool:
        return self.node is not None

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the node's is under way."""
        return not self._flushing

    @property
    def links(self) -> list[Link]:
        """The connections, as this end sees them."""
        return list(self._links.values())

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Switch on. A start that fails for want of disk is an end, as it is of the real process."""
        if self.node is not None:
            return
        self.boots += 1
        self.started_at = self.clock.reach
        self._life += 1
        self.clock.restart()
        self._wake_at = NEVER
        self._stopping = False
        self.world.note(self.name, "starts", f"for the {self.boots}. time")
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
        """SIGTERM: no more requests; what is in flight is completed; everything is brought to the disk."""
        if self.node is not None and not self._stopping:
            self.world.note(self.name, "stops")
            self._stopping, self.is_open = True, False
            self._wind_down(self._life, Millis(self.world.now + GRACE_MS))

    def kill(self) -> None:
        """kill -9: nothing of what was written is lost."""
        self._go_down(End.KILLED)

    def lose_power(self) -> None:
        """The machine itself goes: what was not synced is left to chance."""
        if self.node is not None:
            self._go_down(End.POWER_LOST)
            return
        self.world.note(self.name, "loses power")
        for watcher in self.world.watchers:
            watcher.lost_power(self)
        self.disk.crash(self.world.chance)

    def light_fuse(self, length: int, end: End) -> None:
        """Let the end come at one of the next changes to the disk."""
        self.disk.fuse, self._end = length, end

    # ── connections ──────────────────────────────────────────────────────────────────

    def connected(self, link: Link) -> None:
        self._links[link.number] = link
        self.feed(Connected(link.number, LISTENER, "sim"))

    def receive(self, link: Link, ticket: int, exchange: Exchange, frame: bytes) -> None:
        """A whole request has come in."""
        exchange.heard_at = self.world.now
        for watcher in self.world.watchers:
            watcher.heard(self, exchange)
        buffer = bytearray(frame)
        self.world.note(self.name, "hears", f"{exchange} from {link.client.name}")
        self.feed(Received(link.number, ticket, memoryview(buffer)))
        buffer[:] = b"\xdd" * len(buffer)

    def drop(self, link: Link) -> None:
        """A connection is gone; the node hears of it, but never inside one of its steps."""
        link.close()
        if self._links.pop(link.number, None) is not None:
            life = self._life
            self.world.after(0, lambda: self._if_still(life, Disconnected(link.number)))

    # ── the node ─────────────────────────────────────────────────────────────────────

    def feed(self, event: Event) -> None:
        """Tell the node, and do what it says."""
        node = self.node
        if node is None:
            return
        self.world.note(self.name, "step", type(event).__name__)
        try:
            self._take(lambda: node.step(event, self.clock.now()))
        except Violation:
            raise
        except Exception as error:
            raise Violation("a step does not fail", f"{type(event).__name__}: {error!r}") from error

    def _if_still(self, life: int, event: Event) -> None:
        if self._life == life:
            self.feed(event)

    def _take(self, step: Callable[[], list[Effect]]) -> None:
        try:
            self._carry_out(step())
        except Killed:
            self._go_down(self._end)
            return
        node = self.node
        if node is None:
            return
        for watcher in self.world.watchers:
            watcher.stepped(self)
        if node.ready and not self.is_open and not self._stopping:
            self.is_open = True
            self.world.note(self.name, "is ready")
            for watcher in self.world.watchers:
                watcher.came_up(self)
        self._plan_waking()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Reply(conn, ticket, parts):
                    if conn in self._links:
                        self._links[conn].reply(ticket, parts)
                case Close(conn, reason):
                    self.world.note(self.name, "closes", f"{conn}: {reason}")
                    if conn in self._links:
                        self.drop(self._links[conn])
                case Flush(token, files):
                    self._flush(token, files)
                case Work():
                    self._work(effect)

    # ── off the loop ─────────────────────────────────────────────────────────────────

    def _flush(self, token: int, files: tuple[MemoryFile, ...]) -> None:
        self._flushing[token] = self.disk.begin_sync(files)
        life, delay_ms = self._life, self.world.chance.randint(0, self.flush_ms_max)
        self.world.note(self.name, "flushes", f"{token}: {', '.join(file.path for file in files)}")
        self.world.after(delay_ms, lambda: self._flushed(life, token))

    def _flushed(self, life: int, token: int) -> None:
        if self._life != life or token not in self._flushing:
            return
        error = None
        try:
            self.disk.end_sync(self._flushing.pop(token))
        except OSError as problem:
            error = str(problem)
        except Killed:
            self._go_down(self._end)
            return
        self.world.note(self.name, "has flushed", f"{token} {error or ''}")
        self.feed(Flushed(token, error))

    def _work(self, work: Work) -> None:
        self.world.note(self.name, "works", f"{work.token}: {type(work.job).__name__}")
        pickled, life, chance = pickle.dumps(work.job), self._life, self.world.chance
        works_after = chance.randint(0, self.job_ms_max)
        reports_after = works_after + chance.randint(0, self.job_ms_max)

        def run() -> None:
            if self._life == life:
                finished = self._run_job(work.token, pickled)
                self.world.at(Millis(started + reports_after), lambda: self._if_still(life, finished))

        started = self.world.now
        self.world.after(works_after, run)

    def _run_job(self, token: int, pickled: bytes) -> Finished:
        dies_early = self.disk.fuse is None and self.world.chance.random() < 0.1
        if dies_early:
            self.disk.fuse = self.world.chance.randint(0, 30)
        try:
            result = pickle.loads(pickled).run(self.disk)
            return Finished(token, pickle.loads(pickle.dumps(result)))
        except (OSError, AndironError) as error:
            return Finished(token, None, f"{type(error).__name__}: {error}")
        except Exception as error:
            raise Violation("a job does not fail", repr(error)) from error
        except Killed:
            if not dies_early:
                self._go_down(self._end)
            return Finished(token, None, "the worker process is gone")
        finally:
            if dies_early:
                self.disk.fuse = None

    def _plan_waking(self) -> None:
        node = self.node
        deadline = NEVER if node is None else node.next_deadline()
        if deadline < NEVER:
            wake_at = Millis(self.world.now + self.clock.wait_ms(deadline))
            if wake_at < self._wake_at:
                self._wake_at, life = wake_at, self._life
                self.world.at(wake_at, lambda: self._wake(life, wake_at))

    def _wake(self, life: int, planned: Millis) -> None:
        if self._life != life or self.node is None or self._wake_at != planned:
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

    def _wind_down(self, life: int, until: Millis) -> None:
        if self._life != life or self.node is None:
            return
        if self._flushing and self.world.now < until:
            self.world.after(1, lambda: self._wind_down(life, until))
            return
        for token in list(self._flushing):
            self._flushed(life, token)
        node = self.node
        if node is None:
            return
        try:
            if node.ready:
                node.stop(self.clock.now())
            self._go_down(End.STOPPED if node.ready else End.KILLED)
        except Killed:
            self._go_down(self._end)
        except Violation:
            raise
        except Exception as error:
            if not self._is_excused(error):
                raise Violation("a stop succeeds", repr(error)) from error
            self._go_down(End.KILLED)

    def _go_down(self, end: End) -> None:
        if self.node is None:
            return
        self.world.note(self.name, "goes down", end.value)
        self.disk.fuse = None
        for watcher in self.world.watchers:
            watcher.went_down(self, end)
        self.node, self.is_open = None, False
        self._life += 1
        self._flushing.clear()
        for link in list(self._links.values()):
            link.close()
        self._links.clear()
        if end is End.POWER_LOST:
            self.disk.crash(self.world.chance)

    def _is_excused(self, error: Exception) -> bool:
        """Whether the disk is to blame, which a start and a stop cannot do without."""
        return self.disk.is_bad and isinstance(error, OSError | AndironError)
