"""One client: its bytes in, its frames to the node, its replies out in the order of the requests.

    socket ─▶ inbox ─▶ frame, ticket n ─▶ node ─▶ Reply(ticket n) ─▶ in turn? ─▶ outbox ─▶ socket
                                                                     held until it is

A turn of the loop gives a connection one receive, so many frames, so much time and one send,
and then it is another's turn. Of a turn's time all who have something to say have the same
share (host.py), and a frame at least. Three things make it stop taking frames; the bytes then stay in the
kernel, and the client feels it:

    too many of its requests are unanswered     until some are: so many, or so many bytes
    too much of its output is not sent          until it is
    its socket takes no more output             until it does: only WRITE is asked for

And it reads no further while there is no room for the large request that it has begun (room.py).

A connection is closed when its output is gone (`hang_up`) or at once (`drop`). Either way
the node hears Disconnected exactly once, never inside one of its own steps.

The law easy to break: `_stalled` says that whole frames may be left in the inbox, and then
nothing may be received (inbox.py). Whoever clears the reason of a stall calls `_go_on`.

Read next: host.py, which owns all of them.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from andiron.edge.carrier import SliceLost
from andiron.edge.inbox import BadSize, Inbox, NoRoom
from andiron.edge.loop import BROKEN, READ, WRITE
from andiron.edge.metrics.meter import FETCH, FOLLOWER_FETCH, NO_KIND, Came
from andiron.edge.outbox import Outbox
from andiron.model.effects import Part, Received

if TYPE_CHECKING:
    from andiron.edge.host import Host

UNANSWERED_MAX = 64  # requests; at half of it a stalled connection goes on
UNANSWERED_BYTES_MAX = 32 << 20  # of them together; the node may keep those that it cannot answer yet
BACKLOG_MAX = 1 << 20  # bytes of output
FRAMES_MAX = 64  # in one turn

_new_event = tuple.__new__  # makes a Received in half the time that calling the class takes


class Connection:
    """A socket, what came in on it, and what goes out."""

    __slots__ = (
        "_awaited",
        "_deaf",
        "_events",
        "_held",
        "_host",
        "_inbox",
        "_issued",
        "_leaving",
        "_link",
        "_outbox",
        "_owed",
        "_queued",
        "_recv_into",
        "_send_due",
        "_sizes",
        "_stalled",
        "_unanswered_bytes",
        "active_at",
        "address",
        "fd",
        "id",
        "listener",
        "room_since",
    )

    def __init__(self, host: Host, number: int, link: socket.socket, listener: str, address: str) -> None:
        self._host, self._link = host, link
        self.id, self.fd, self.listener, self.address = number, link.fileno(), listener, address
        self._inbox = Inbox(host.settings.socket_request_max_bytes, host.room)
        self._outbox = Outbox(link, host.carrier)
        self._recv_into = link.recv_into
        self._issued = 0  # the last ticket given to a request
        self._owed = 1  # the ticket whose reply leaves next
        self._held: dict[int, list[Part] | None] = {}  # replies that came before their turn
        self._awaited: list[Came] = []  # the requests that are owed a reply, in their order
        self._sizes: list[int] = []  # of their frames
        self._unanswered_bytes = 0
        self._stalled = False
        self._queued = False  # in the host's list of those who go on
        self._send_due = False  # in the host's list of senders, or waiting for WRITE
        self._deaf = False  # takes no more requests
        self._leaving = ""  # why it is closed once its output is gone
        self._events = READ
        self.active_at = host.now
        self.room_since = host.now  # when it got room for a large request

    @property
    def requests(self) -> int:
        """How many it has sent."""
        return self._issued

    @property
    def backlog(self) -> int:
        """Bytes of output that are not sent."""
        return self._outbox.backlog

    @property
    def is_stalled(self) -> bool:
        """Whether it has requests that are not taken yet."""
        return self._stalled

    def on_ready(self, events: int) -> None:
        """The loop's callback."""
        if events & READ and not self._stalled:
            self._receive()
        elif events & WRITE:
            self._host.senders.append(self)
        elif self._queued:
            pass  # it goes on in this turn, and then finds out by itself
        elif events & BROKEN:
            self._host.connections.drop(self, "the connection broke", usual=True)
        else:
            self._listen_for(0)

    def take_frames(self) -> None:
        """Give the node the frames that are here, as far as this turn and the limits allow."""
        self._queued = False
        feed, outbox, next_frame = self._host.feed, self._outbox, self._inbox.next_frame
        meter = self._host.meter
        of_turn, clock = meter.of_turn, meter.clock
        until = clock() + self._host.share_s
        unanswered_max = 0 if self._events == WRITE else UNANSWERED_MAX
        for _ in range(FRAMES_MAX):
            if (
                self._issued - self._owed + 1 >= unanswered_max
                or outbox.backlog > BACKLOG_MAX
                or self._deaf
                or self._unanswered_bytes > UNANSWERED_BYTES_MAX
            ):
                self._stalled = True
                return
            try:
                frame = next_frame()
            except BadSize as bad:
                self.hang_up(str(bad))
                return
            if frame is None:
                self._stalled = False
                if self._host.room.waiting:
                    self.leave_room()
                if not self._events:
                    self._listen_for(READ)
                return
            self._issued = ticket = self._issued + 1
            kind = frame[1] if len(frame) > 1 else NO_KIND
            feed(_new_event(Received, (self.id, ticket, frame)))
            if kind == FETCH and self.id in meter.followers:
                kind = FOLLOWER_FETCH
            if ticket < self._owed:
                if not of_turn[kind]:
                    meter.kinds.append(kind)
                of_turn[kind] += 1
            else:
                self._awaited.append((kind, meter.began))
                self._sizes.append(len(frame))
                self._unanswered_bytes += len(frame)
            if clock() > until:
                break
        self._stalled = True
        self._go_on()

    def reply(self, ticket: int, parts: list[Part] | None) -> None:
        """Take the reply to one request; it leaves at the end of the turn in which its turn has come."""
        if ticket != self._owed:
            self._hold(ticket, parts)
            return
        self._owed = ticket + 1
        if self._awaited:
            self._no_longer_awaited()
        if parts is not None:
            self._post(parts)
        if self._held:
            self._release_held()
        if self._stalled and self._issued - self._owed < UNANSWERED_MAX // 2:
            self._go_on()

    def flush(self) -> None:
        """Send one piece of what is due; then see what that makes possible."""
        if self.fd < 0:
            return
        outbox = self._outbox
        backlog = outbox.backlog
        if backlog:
            try:
                all_taken = outbox.send()
            except (OSError, SliceLost) as error:
                self._host.connections.drop(self, f"while sending: {error}", usual=isinstance(error, OSError))
                return
            if outbox.backlog < backlog:
                self.active_at = self._host.now
            if not all_taken:
                if self._events != WRITE:
                    self._listen_for(WRITE)
                return
            if outbox.backlog:
                self._host.senders.append(self)
                return
        self._send_due = False
        self._after_sending()

    def hang_up(self, reason: str) -> None:
        """Close when all that is in the outbox has been sent; what comes after this is not."""
        if self._leaving:
            return
        self.mute()
        self._leaving = reason
        if not self._send_due:
            self._send_due = True
            self._host.senders.append(self)

    def give_up(self, reason: str) -> None:
        """Close at once; what it still has to send is lost."""
        self._host.connections.drop(self, reason)

    def mute(self) -> None:
        """Take no more requests."""
        self._deaf = self._stalled = True
        if self._events & READ:
            self._listen_for(0)

    def has_room(self) -> None:
        """There may be room for the large request that has begun."""
        if not self._events and not self._stalled and self.fd >= 0:
            self._listen_for(READ)

    @property
    def has_taken_room(self) -> bool:
        """Whether it holds some of what is shared."""
        return self._inbox.granted > 0

    def leave_room(self) -> None:
        """Give back the room for large requests, if none has begun or waits for its answer."""
        if not self._awaited:
            self._inbox.leave_room()

    def rest(self) -> None:
        """Called now and then: give back memory that is not in use."""
        self._inbox.rest()

    def close(self) -> None:
        """For the host, which then forgets it."""
        self.fd = -1
        self._deaf = True  # it may still be in one of the host's lists
        self._inbox.close()
        self._link.close()

    def _receive(self) -> None:
        try:
            had_room = self._inbox.granted
            count = self._inbox.receive(self._recv_into)
        except BlockingIOError:
            return
        except NoRoom:
            self._host.connections.no_room_for(self)
            self._listen_for(0)
            return
        except (OSError, MemoryError) as error:
            self._host.connections.drop(self, f"while receiving: {error}", usual=isinstance(error, OSError))
            return
        if not count:
            self._host.connections.drop(self, "the client closed it", usual=True)
            return
        self.active_at = self._host.now
        if self._inbox.granted > had_room:
            self.room_since = self._host.now
        self.take_frames()

    def _after_sending(self) -> None:
        if self._leaving:
            self._host.connections.drop(self, self._leaving)
            return
        if self._events == WRITE:
            self._listen_for(0 if self._deaf else READ)
        if self._stalled:
            self._go_on()

    def _post(self, parts: list[Part]) -> None:
        if self._leaving:
            return
        self._outbox.add(parts)
        if not self._send_due:
            self._send_due = True
            self._host.senders.append(self)

    def _hold(self, ticket: int, parts: list[Part] | None) -> None:
        assert self._owed < ticket <= self._issued, "a ticket is answered once, and after it was given"
        assert ticket not in self._held, "a ticket is answered once"
        self._held[ticket] = parts

    def _release_held(self) -> None:
        while self._owed in self._held:
            parts = self._held.pop(self._owed)
            self._owed += 1
            if self._awaited:
                self._no_longer_awaited()
            if parts is not None:
                self._post(parts)

    def _no_longer_awaited(self) -> None:
        self._host.meter.late.append(self._awaited.pop(0))
        self._unanswered_bytes -= self._sizes.pop(0)

    def _go_on(self) -> None:
        """Take frames again in the next turn; if a limit still holds, that stalls it again."""
        if not self._queued and self._events != WRITE and not self._deaf:
            self._queued = True
            self._host.resuming.append(self)

    def _listen_for(self, events: int) -> None:
        self._events = events
        self._host.loop.change(self.fd, events)
