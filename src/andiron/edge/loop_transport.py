"""The bytes of a connection by the loop: one receive and one send a turn, in the node's own thread.

    loop ─▶ on_ready ─▶ inbox ─▶ frames        post ─▶ outbox ─▶ flush, at the end of the turn

It needs nothing but what every system has, and no other thread: for one connection, or a loop that has time, it is the
quickest way. Where a socket takes no more output, only WRITE is asked for, and nothing is received.

The law easy to break: while whole frames may be left in the inbox nothing may be received (inbox.py). So a socket that
can be read is asked for READ no more while its owner is stalled, and again when the owner says `unmute`.

Read next: connection.py.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from andiron.edge.carrier import SliceLost
from andiron.edge.inbox import Inbox, NoRoom
from andiron.edge.loop import BROKEN, READ, WRITE
from andiron.edge.outbox import Outbox
from andiron.model.effects import Part

if TYPE_CHECKING:
    from andiron.edge.connection import Connection
    from andiron.edge.host import Host


class Handed(NamedTuple):
    """What goes with a connection to whoever serves it next."""

    link: socket.socket
    received: bytes = b""  # frames that were not taken, and the beginning of another
    granted: int = 0  # of the room that large requests share
    unsent: Sequence[Any] = ()  # parts of replies, as they are to leave


class LoopTransport:
    """A socket that the loop polls, with what has come and what is to go."""

    __slots__ = (
        "_events",
        "_fd",
        "_host",
        "_inbox",
        "_link",
        "_outbox",
        "_recv_into",
        "_send_due",
        "is_choked",
        "next_frame",
        "owner",
        "receives",
    )

    def __init__(self, host: Host, owner: Connection, handed: Handed) -> None:
        link = handed.link
        self._host, self.owner, self._link, self._fd = host, owner, link, link.fileno()
        self._inbox = Inbox(host.settings.socket_request_max_bytes, host.room)
        self._outbox = Outbox(link, host.carrier)
        self.next_frame: Callable[[], memoryview | None] = self._inbox.next_frame
        self._recv_into = link.recv_into
        self._events = READ
        self.is_choked = False
        self._send_due = False  # in the host's list of senders, or waiting for WRITE
        self.receives = 0
        host.loop.watch(self._fd, READ, self.on_ready)
        if handed.received or handed.granted:
            self._inbox.refill(handed.received, handed.granted)
        if handed.unsent:
            self._outbox.put_back(handed.unsent)
            self.tell_when_sent()

    @property
    def id(self) -> int:
        """What the host's log calls it."""
        return self.owner.id

    @property
    def backlog(self) -> int:
        return self._outbox.backlog

    @property
    def has_taken_room(self) -> bool:
        return self._inbox.granted > 0

    @property
    def can_be_handed_over(self) -> bool:
        """Whether a network thread could serve it: it is a plain socket."""
        return type(self._link) is socket.socket and self._fd >= 0

    def on_ready(self, events: int) -> None:
        """The loop's callback."""
        owner = self.owner
        if events & READ and not owner.is_stalled:
            self._receive()
        elif events & WRITE:
            self._host.senders.append(self)
        elif owner.is_queued:
            pass  # it goes on in this turn, and then finds out by itself
        elif events & BROKEN:
            owner.broke("the connection broke")
        else:
            self._listen_for(0)

    def post(self, parts: list[Part]) -> None:
        self._outbox.add(parts)
        if not self._send_due:
            self._send_due = True
            self._host.senders.append(self)

    def tell_when_sent(self) -> None:
        if not self._send_due:
            self._send_due = True
            self._host.senders.append(self)

    def flush(self) -> None:
        """Send one piece of what is due; then see what that makes possible."""
        if self._fd < 0:
            return
        outbox = self._outbox
        backlog = outbox.backlog
        if backlog:
            try:
                all_taken = outbox.send()
            except (OSError, SliceLost) as error:
                self.owner.broke(f"while sending: {error}", usual=isinstance(error, OSError))
                return
            if outbox.backlog < backlog:
                self.owner.active_at = self._host.now
            if not all_taken:
                if self._events != WRITE:
                    self._listen_for(WRITE)
                return
            if outbox.backlog:
                self._host.senders.append(self)
                return
        self._send_due = False
        if self._events == WRITE:
            self._listen_for(0 if self.owner.is_deaf else READ)
        self.owner.sent_all()

    def give_up(self, reason: str) -> None:
        """What is due cannot be sent."""
        self.owner.give_up(reason)

    def mute(self) -> None:
        if self._events & READ:
            self._listen_for(0)

    def unmute(self) -> None:
        if not self._events:
            self._listen_for(READ)

    def has_room(self) -> None:
        if not self._events and not self.owner.is_stalled and self._fd >= 0:
            self._listen_for(READ)

    def leave_room(self) -> None:
        self._inbox.leave_room()

    def rest(self) -> None:
        self._inbox.rest()

    def hand_over(self) -> Handed:
        """Let go of the connection; all that another needs to go on with it."""
        self._host.loop.forget(self._fd)
        self._fd = -1
        received, granted = self._inbox.empty()
        return Handed(self._link, received, granted, self._outbox.take_back())

    def close(self) -> None:
        if self._fd >= 0:
            self._host.loop.forget(self._fd)
            self._fd = -1
            self._inbox.close()
            self._link.close()

    def _receive(self) -> None:
        owner = self.owner
        self.receives += 1
        try:
            had_room = self._inbox.granted
            count = self._inbox.receive(self._recv_into)
        except BlockingIOError:
            return
        except NoRoom:
            self._listen_for(0)  # before others leave room for it, which is told at once
            owner.lacks_room()
            return
        except (OSError, MemoryError) as error:
            owner.broke(f"while receiving: {error}", usual=isinstance(error, OSError))
            return
        if not count:
            owner.broke("the client closed it")
            return
        owner.active_at = self._host.now
        if self._inbox.granted > had_room:
            owner.room_since = self._host.now
        owner.take_frames()

    def _listen_for(self, events: int) -> None:
        self._events = events
        self.is_choked = events == WRITE
        self._host.loop.change(self._fd, events)
