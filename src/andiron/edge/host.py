"""The owner of a node: tells it what happens, does what it says, and sleeps in between.

A turn, over and over:

    poll       until something is ready, or the node's next deadline has come
    now        the clock is read once: a turn happens at one time
    take       what network threads have received, if there are any (request_channel.py)
    receive    once from each that is ready; a frame is a node.step
    go on      with connections that had more frames than fit in a turn; all share its time
    give up    calls to other nodes that are late
    wake       the node, if its deadline has come; after a pause not before the next turn
    send       once to each that has output; what threads are to send is theirs

Completed flushes and jobs come in through the loop's wake-up, as one more thing that is
ready. So a node's steps happen in one thread, one after the other.

A step that raises is a bug: it costs the connection that caused it, puts a traceback in the
log and counts as one of `failures`, and everyone else goes on.

Read next: main.py, where one is made, and ended by a signal.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple, Protocol

from andiron.edge.carrier import Carrier
from andiron.edge.clock import Clock
from andiron.edge.connection import Connection
from andiron.edge.connections import Connections
from andiron.edge.handover import Handover
from andiron.edge.listener import Listener
from andiron.edge.loop import Loop
from andiron.edge.metrics.meter import Meter
from andiron.edge.peers import Peers
from andiron.edge.processors import Processors
from andiron.edge.room import Room
from andiron.model.awake import NAP_MS
from andiron.model.effects import (
    Call,
    Close,
    Connected,
    Effect,
    Event,
    Flush,
    Received,
    Reconfigure,
    Reply,
    Woken,
    Work,
)
from andiron.model.errors import AndironError
from andiron.model.ids import NEVER, Millis
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.broker.node.node import Node
    from andiron.broker.settings.broker_settings import BrokerSettings
    from andiron.edge.flusher import Flusher
    from andiron.edge.worker import Worker

GRACE_MS = 3_000  # for what is in flight when the host is told to stop
LEAVE_MS = 30_000  # for others to take over what is led here
LOOK_MS = 10  # between looks at what network threads have still to send
RESIGN_MS = 200  # for others to hear that this node leads the metadata no more
WAITING_MS = 5_000  # between complaints of a node that is not let in
TOLD_MS = 2_000  # a pause that people should hear of
CALM_MS = 1_000  # between wakings of a node that fails when woken
TURN_S = 0.01  # of a turn for requests; all who have some share it
SHARE_S_MIN = 0.0002

_WOKEN = Woken()

log = logging.getLogger(__name__)


class Sender(Protocol):
    """Who has output to send at the end of a turn."""

    @property
    def id(self) -> int | str:
        """What the log calls it."""

    def flush(self) -> None:
        """Send a piece of it."""

    def give_up(self, reason: str) -> None:
        """It cannot be sent."""


class CannotServe(AndironError):
    """The node will not get into its cluster, and says why."""


class Background(NamedTuple):
    """Who does what is slow, off the loop, and wakes it at the end: fsyncs in threads, jobs in another process."""

    flusher: Flusher
    worker: Worker


class Host:
    """A node, its connections, and what is due for them."""

    def __init__(
        self,
        node: Node,
        settings: BrokerSettings,
        loop: Loop,
        background: Background,
        *,
        clock: Clock | None = None,
        carrier: Carrier | None = None,
    ) -> None:
        self._node, self._clock = node, clock or Clock()
        self._flusher, self._worker = background
        self._step = node.step
        self.settings = settings  # replaced when the node says so
        self.loop, self.carrier = loop, carrier or Carrier()
        self.now = self._clock.now()
        self.meter = Meter()
        self.room = Room(lambda: self.settings.queued_max_request_bytes)
        self.connections = Connections(self)
        self.processors = Processors(self)
        self.handover = Handover(self)
        self.peers = Peers(self)
        self.senders: list[Sender] = []  # who has output to send at the end of the turn
        self.resuming: list[Connection] = []  # who may have whole frames left
        self.share_s = TURN_S  # the time that each connection has in this turn
        self.failures = 0
        self._flushing = 0  # flushes under way
        self._deadline = NEVER  # of the node, as it was before the poll
        self._calm_until = Millis(0)
        self._missed_ms, self._was_away = self._clock.missed_ms, False  # by the last turn, and in it
        self._calm_about_pauses_until = Millis(0)
        self._stop_wanted = False
        loop.on_wake = self._collect

    @property
    def controller_listeners(self) -> tuple[str, ...]:
        """The doors of the controllers."""
        return self._node.controller_listeners

    @property
    def brokers_listener(self) -> str:
        """The door that brokers have to themselves, if they do."""
        return self._node.brokers_listener

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, listeners: list[Listener]) -> None:
        """Start the node, and let clients in when it is ready; other controllers at once, since it needs them for that.
        Raises if it will not be taken into its cluster."""
        inner = [each for each in listeners if each.name in self.controller_listeners]
        self._carry_out(self._node.start(self.now))
        self.connections.open_doors(inner)
        until = self.now + self._node.patience_ms
        said_at = self.now
        while not self._node.ready and not self._stop_wanted:
            self.turn(Millis(self.now + WAITING_MS))
            if self._node.broken is not None:
                raise CannotServe(self._node.broken)
            if self.now >= until and self._node.trouble is not None:
                raise CannotServe(self._node.trouble)
            if self.now - said_at >= WAITING_MS:
                said_at = self.now
                log.warning(Line("Node is not ready yet", reason=self._node.waits_for))
        if not self._stop_wanted:
            self.connections.open_doors([each for each in listeners if each not in inner])

    def run(self) -> bool:
        """Serve until told to stop; then finish what is in flight, and bring it all to the disk.
        Returns whether it got there."""
        while not self._stop_wanted:
            self.turn()
            if self._node.broken is not None:
                log.error(Line("Node ends: it cannot go on", error=self._node.broken))
                return self._fall()
        log.info(Line("Node stops: controlled shutdown"))
        self._leave()
        return self._wind_down()

    def stop(self) -> None:
        """Make `run` come to its end. Safe in any thread and in a signal handler."""
        self._stop_wanted = True
        self.loop.wake()

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stop_wanted

    def turn(self, until: Millis = NEVER) -> None:
        """Wait for something to happen, at most `until` then; do what follows from it."""
        ready = self.loop.poll(self._wait_s(until))
        self.meter.turn_begins()
        self.now = now = self._clock.now()
        is_back = self._was_missing()
        channel = self.processors.channel
        arrived = channel.take() if channel is not None else ()
        resuming, self.resuming = self.resuming, []
        self.share_s = max(SHARE_S_MIN, TURN_S / (len(ready) + len(resuming) + len(arrived) or 1))
        self.loop.dispatch(ready)
        if channel is not None:
            for transport in arrived:
                transport.owner.arrived()
            channel.heed()
        for connection in resuming:
            connection.take_frames()
        if is_back and not self._was_away:
            self._was_away = True  # who came meanwhile is let in by now, and is heard in the next turn
        else:
            self._was_away = is_back
            self._judge(now)
        if self.connections.sweep_at <= now:
            self.connections.sweep()
        if self.handover.due <= self.meter.ended:
            self.handover.look()
        if self.senders:
            self._send()
        if self.processors.channel is not None:  # it may be new
            self.processors.channel.flush()
        self.meter.turn_ends()

    def _wait_s(self, until: Millis) -> float:
        self._deadline = max(self._node.next_deadline(), self._calm_until)
        if self.senders or self.resuming:
            return 0.0
        due = min(
            self._deadline, self.peers.next_deadline(), self.connections.sweep_at, until, self.now + NAP_MS
        )
        wait_ms = due - self.now
        return wait_ms / 1000 if wait_ms > 0 else 0.0

    def _was_missing(self) -> bool:
        """Whether the process was away before this turn; if for long, that is told, once in a while."""
        missed_ms, self._missed_ms = self._clock.missed_ms - self._missed_ms, self._clock.missed_ms
        if missed_ms >= TOLD_MS and self.now >= self._calm_about_pauses_until:
            self._calm_about_pauses_until = Millis(self.now + WAITING_MS * 12)
            log.warning(Line(
                "Node stood still: its machine has too much to do, or the process was stopped",
                ms=missed_ms,
            ))  # fmt: skip
        return missed_ms > 0

    @property
    def stood_still_s(self) -> float:
        """For how long the process was away since it began, in pauses of more than half a second."""
        return self._missed_ms / 1_000

    def _judge(self, now: Millis) -> None:
        """See to what has not happened in time."""
        if self.peers.next_deadline() <= now:
            self.peers.tick()
        if self._deadline <= now:
            self._wake_node()

    def _send(self) -> None:
        senders, self.senders = self.senders, []
        for connection in senders:
            try:
                connection.flush()
            except Exception:
                self.failures += 1
                log.exception(Line(
                    "Responses cannot be sent: a bug in Andiron; please report it",
                    connection=connection.id,
                ))  # fmt: skip
                connection.give_up("what is due cannot be sent")

    def _fall(self) -> bool:
        """End as a crash would: what is not on the disk will be found out at the next start."""
        self._worker.close()
        self.connections.close_doors()
        self.connections.close_all()
        self.processors.close()
        self.peers.close_all()
        return False

    def _leave(self) -> None:
        """Go on serving until others have taken over what is led here."""
        until = Millis(self.now + LEAVE_MS)
        self._carry_out(self._node.leave(self.now))
        while not self._node.has_left and self.now < until:
            self.turn(until)
        self._carry_out(self._node.resign(self.now))
        until = Millis(self.now + RESIGN_MS)
        while self.peers.has_unsent and self.now < until:
            self.turn(until)

    def _wind_down(self) -> bool:
        self.connections.close_doors()
        until = Millis(self.now + GRACE_MS)
        while (self._flushing or self.connections.backlog) and self.now < until:
            self.turn(Millis(min(until, self.now + LOOK_MS)))
        self._flusher.drain()
        self._collect()
        self._send()
        while self.processors.connections and self.connections.backlog and self.now < until:
            self.turn(Millis(min(until, self.now + LOOK_MS)))
        self._worker.close()
        clean = self._node.stop(self.now) if self._node.is_settled else True
        self.connections.close_all()
        self.processors.close()
        self.peers.close_all()
        return clean

    # ── the node ─────────────────────────────────────────────────────────────────────

    def feed(self, event: Event) -> None:
        """Tell the node, and do what it says."""
        try:
            effects = self._step(event, self.now)
            if effects:
                self._carry_out(effects)
        except Exception:
            self._failed(event)

    def _carry_out(self, effects: list[Effect]) -> None:
        connections = self.connections.by_number
        for effect in effects:
            if type(effect) is Reply:
                connection = connections.get(effect[0])
                if connection is not None:
                    connection.reply(effect[1], effect[2])
            elif type(effect) is Call:
                self.peers.call(effect)
            elif type(effect) is Close:
                connection = connections.get(effect.conn)
                if connection is not None:
                    connection.hang_up(effect.reason)
            elif type(effect) is Flush:
                self._flushing += 1
                self.meter.flush_begins(effect.token)
                self._flusher.submit(effect.token, effect.files)
            elif type(effect) is Work:
                self._worker.submit(effect.token, effect.job)
            elif type(effect) is Reconfigure:
                self.settings = effect.settings

    def _failed(self, event: Event) -> None:
        self.failures += 1
        log.exception(
            Line("Node failed at {event}: a bug in Andiron; please report it", event=type(event).__name__)
        )
        if type(event) is Woken:
            self._calm_until = Millis(self.now + CALM_MS)
        elif isinstance(event, Received | Connected) and event.conn in self.connections.by_number:
            self.connections.by_number[event.conn].hang_up(f"the node failed at {type(event).__name__}")

    def _wake_node(self) -> None:
        """Unless this turn has already brought about what the deadline was for."""
        if self._node.next_deadline() <= self.now:
            self.feed(_WOKEN)

    def _collect(self) -> None:
        """Tell the node what has been done off the loop."""
        for flushed in self._flusher.completed():
            self._flushing -= 1
            self.meter.flush_ends(flushed.token)
            self.feed(flushed)
        for finished in self._worker.completed():
            self.feed(finished)
