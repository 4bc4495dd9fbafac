"""Who is connected, and who may be.

    accepted ─▶ admit ─┬─▶ a Connection with a number; the node hears Connected
                       └─▶ too many from one address: closed
    max.connections reached, or no descriptors left ─▶ listeners pause until there is room

Clients must not keep the other nodes out (KIP-402). What comes to a controllers' listener does not count, and is let
in as long as there are descriptors, some of which are kept for this. To a listener of the brokers' own one more is let
in although there are enough, and the client's that was silent for longest is closed for it.

Every few seconds a sweep looks at each connection: who has been silent for longer than
connections.max.idle.ms is closed, and who holds a buffer too large for what it sends gives
it back. To a request this costs one store; there are no timers.

Read next: host.py.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from andiron.broker.node.log_limiter import LogLimiter
from andiron.edge.connection import Connection
from andiron.edge.loop_transport import Handed, LoopTransport
from andiron.edge.room import LATE_MS
from andiron.model.effects import Connected, Disconnected
from andiron.model.ids import Millis
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.edge.host import Host
    from andiron.edge.listener import Listener

SWEEP_MS_MAX = 5_000
RETRY_MS = 1_000  # until accepting is tried again after it has failed
RESERVE = 64  # descriptors for other nodes, or a quarter of all if that is less

log = logging.getLogger(__name__)


class Connections:
    """The table of them, and the listeners they come from."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.possible = 1 << 31  # how many the process has descriptors for
        self.by_number: dict[int, Connection] = {}
        self._from_address: dict[str, int] = {}
        self._listeners: list[Listener] = []
        self._paused = False
        self._requests_of_closed = 0
        self.accepted = self.refused = 0
        self._of_controllers = 0  # connections that do not count
        self.waits = 0  # how often listeners had to let connections wait
        self.given_up = 0  # connections of clients that were closed for other nodes
        self.sweep_at = Millis(host.now + self._sweep_ms())
        self._log_limiter = LogLimiter()
        self.on_sweep: list[Callable[[], None]] = []  # who else is to be called then

    def __len__(self) -> int:
        return len(self.by_number)

    def open_doors(self, listeners: list[Listener]) -> None:
        """Let whoever comes to these in from now on."""
        self._listeners += listeners
        for listener in listeners:
            listener.open(self._host.loop, self, self._host.settings)

    def close_doors(self) -> None:
        """Let nobody in any more, and hear nothing more from those who are."""
        for listener in self._listeners:
            listener.close()
        self._listeners = []
        for connection in self.by_number.values():
            connection.mute()

    def admit(self, link: socket.socket, listener: str, address: str) -> None:
        """Take in a connection that was accepted, unless its address has enough of them."""
        settings = self._host.settings
        count = self._from_address.get(address, 0)
        if count >= settings.max_connections_per_ip:
            self.refused += 1
            link.close()
            if (suppressed := self._log_limiter.again(address, self._host.now)) is not None:
                log.warning(Line(
                    "Connections from {client} are refused: max.connections.per.ip is reached",
                    client=address, count=count, suppressed=suppressed,
                ))  # fmt: skip
            return
        self._from_address[address] = count + 1
        self.accepted += 1
        connection = Connection(self._host, self.accepted, listener, address)
        connection.transport = LoopTransport(self._host, connection, Handed(link))
        self.by_number[connection.id] = connection
        self._of_controllers += listener in self._host.controller_listeners
        self._host.feed(Connected(connection.id, listener, address))
        if listener == self._host.brokers_listener and self._counted > self.limit:
            self._give_up_one(listener)
        self._see_who_waits()
        self._host.handover.welcome(connection)

    def cannot_accept(self, why: str) -> None:
        """The system refuses another descriptor: wait for one that is given back, or a little."""
        if (suppressed := self._log_limiter.again(why, self._host.now)) is not None:
            log.warning(Line(
                "Connections have to wait: the system refuses another descriptor; raise LimitNOFILE",
                error=why, suppressed=suppressed,
            ))  # fmt: skip
        self._pause(self._listeners)
        self.sweep_at = min(self.sweep_at, Millis(self._host.now + RETRY_MS))

    def drop(self, connection: Connection, reason: str, *, usual: bool = False) -> None:
        """Close a connection at once; what it still has to send is lost."""
        if self.by_number.pop(connection.id, None) is None:
            return
        self._host.room.waiting.pop(connection, None)
        level = logging.DEBUG if usual else logging.INFO
        log.log(level, Line(
            "Connection from {client} is closed",
            client=connection.address, connection=connection.id, reason=reason,
        ))  # fmt: skip
        connection.close()
        self._requests_of_closed += connection.requests
        self._one_less_from(connection.address)
        self._of_controllers -= connection.listener in self._host.controller_listeners
        self._host.feed(Disconnected(connection.id))
        if self._paused:
            self._see_who_waits()

    def no_room_for(self, connection: Connection) -> None:
        """It has to wait; those who have room and do not use it leave it."""
        room = self._host.room
        if not room.waiting:
            log.warning(Line(
                "Large requests have to wait: others hold all of queued.max.request.bytes",
                bytes=room.taken,
            ))  # fmt: skip
        room.waiting[connection] = None
        for each in self.by_number.values():
            each.leave_room()

    def _make_room(self) -> None:
        """If some wait, close who has been at a large request for longest, and for too long."""
        room, late = self._host.room, self._host.now - LATE_MS
        holders = [each for each in self.by_number.values() if each.has_taken_room and each.room_since < late]
        if room.waiting and holders:
            holder = min(holders, key=lambda each: each.room_since)
            self.drop(holder, "its large request is not done, and others wait for the room that it has taken")

    def sweep(self) -> None:
        """Close who is idle, shrink who rests, try to accept again. Called when `sweep_at` has come."""
        now, idle_ms_max = self._host.now, self._host.settings.connections_max_idle_ms
        for connection in list(self.by_number.values()):
            connection.rest()
            if 0 <= idle_ms_max <= now - connection.active_at:
                self.drop(connection, f"idle for {now - connection.active_at} ms", usual=True)
        self._make_room()
        if self._paused:
            self._see_who_waits()
        for sweep in self.on_sweep:
            sweep()
        self.sweep_at = Millis(now + self._sweep_ms())

    def close_all(self) -> None:
        """Without telling the node, which has stopped."""
        self._requests_of_closed = self.requests
        for connection in self.by_number.values():
            connection.close()
        self.by_number.clear()

    @property
    def backlog(self) -> int:
        """Bytes of output that are not sent."""
        return sum(connection.backlog for connection in self.by_number.values())

    @property
    def requests(self) -> int:
        """Requests received since the start."""
        return self._requests_of_closed + sum(each.requests for each in self.by_number.values())

    @property
    def limit(self) -> int:
        """How many clients and brokers may be connected."""
        return min(self._host.settings.max_connections, self.possible - min(RESERVE, self.possible // 4))

    @property
    def _counted(self) -> int:
        return len(self.by_number) - self._of_controllers

    def _is_full(self) -> bool:
        return self._counted >= self.limit

    def _see_who_waits(self) -> None:
        """Let those listeners pause that have no room, and the others accept."""
        if len(self.by_number) >= self.possible:
            self._pause(self._listeners)
        elif self._is_full():
            open_still = (*self._host.controller_listeners, self._host.brokers_listener)
            self._pause([each for each in self._listeners if each.name not in open_still])
        elif self._paused:
            self._pause([])

    def _pause(self, listeners: list[Listener]) -> None:
        """Let whoever comes to these wait, and whoever comes to others in."""
        if listeners and not self._paused:
            self.waits += 1
            log.warning(Line(
                "Connections have to wait: max.connections is reached",
                count=self._counted, limit=self.limit, listeners=[each.name for each in listeners],
            ))  # fmt: skip
        self._paused = bool(listeners)
        for each in self._listeners:
            if each in listeners:
                each.pause()
            else:
                each.resume()

    def _give_up_one(self, protected: str) -> None:
        """Close a client's connection for one of a broker: that which was silent for longest."""
        others = (protected, *self._host.controller_listeners)
        silent = [each for each in self.by_number.values() if each.listener not in others]
        if silent:
            self.given_up += 1
            reason = "max.connections is reached, and another broker has come"
            self.drop(min(silent, key=lambda each: each.active_at), reason)

    def _one_less_from(self, address: str) -> None:
        count = self._from_address[address] - 1
        if count:
            self._from_address[address] = count
        else:
            del self._from_address[address]

    def _sweep_ms(self) -> int:
        """Often enough that nobody is idle for a quarter longer than allowed."""
        idle_ms_max = self._host.settings.connections_max_idle_ms
        return SWEEP_MS_MAX if idle_ms_max < 0 else max(1, min(SWEEP_MS_MAX, idle_ms_max // 4))
