"""One client: its bytes in, its frames to the node, its replies out in the order of the requests.

    transport ─▶ frame, ticket n ─▶ node ─▶ Reply(ticket n) ─▶ in turn? ─▶ transport
                                                               held until it is

Its bytes come and go by a transport, the loop's or a network thread's (transport.py); here are the rules, and which of
the two it is makes no difference to them.

A turn of the loop gives a connection so many frames and so much time, and then it is another's
turn. Of a turn's time all who have something to say have the same share (host.py), and a frame at
least. Three things make it stop taking frames; the bytes then stay in the kernel, and the client feels it:

    too many of its requests are unanswered     until some are: so many, or so many bytes
    too much of its output is not sent          until it is
    its socket takes no more output             until it does

And no more is read while there is no room for the large request that it has begun (room.py).

A connection is closed when its output is gone (`hang_up`) or at once (`drop`). Either way
the node hears Disconnected exactly once, never inside one of its own steps.

The law easy to break: `is_stalled` says that whole frames may be left in the transport, and then
nothing may be received. Whoever clears the reason of a stall calls `_go_on`.

Read next: host.py, which owns all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from andiron.edge.inbox import BadSize
from andiron.edge.metrics.meter import FETCH, FOLLOWER_FETCH, NO_KIND, Came
from andiron.edge.transport import StreamEnded, Transport
from andiron.model.effects import Part, Received

if TYPE_CHECKING:
    from andiron.edge.host import Host

UNANSWERED_MAX = 64  # requests; at half of it a stalled connection goes on
UNANSWERED_BYTES_MAX = 32 << 20  # of them together; the node may keep those that it cannot answer yet
BACKLOG_MAX = 1 << 20  # bytes of output
FRAMES_MAX = 64  # in one turn

_new_event = tuple.__new__  # makes a Received in half the time that calling the class takes


class Connection:
    """A client's requests, and what it is owed."""

    __slots__ = (
        "_awaited",
        "_held",
        "_host",
        "_issued",
        "_leaving",
        "_owed",
        "_sizes",
        "_unanswered_bytes",
        "active_at",
        "address",
        "id",
        "is_deaf",
        "is_queued",
        "is_stalled",
        "listener",
        "room_since",
        "seen",
        "transport",
    )

    transport: Transport  # given by whoever moves it: connections.py, processors.py

    def __init__(self, host: Host, number: int, listener: str, address: str) -> None:
        self._host = host
        self.id, self.listener, self.address = number, listener, address
        self._issued = 0  # the last ticket given to a request
        self._owed = 1  # the ticket whose reply leaves next
        self._held: dict[int, list[Part] | None] = {}  # replies that came before their turn
        self._awaited: list[Came] = []  # the requests that are owed a reply, in their order
        self._sizes: list[int] = []  # of their frames
        self._unanswered_bytes = 0
        self.is_stalled = False  # it may have frames that are not taken yet
        self.is_queued = False  # in the host's list of those who go on
        self.is_deaf = False  # takes no more requests
        self._leaving = ""  # why it is closed once its output is gone
        self.active_at = host.now
        self.room_since = host.now  # when it got room for a large request
        self.seen = 0  # of its requests, by handover.py

    @property
    def requests(self) -> int:
        """How many it has sent."""
        return self._issued

    @property
    def backlog(self) -> int:
        """Bytes of output that are not sent."""
        return self.transport.backlog

    def arrived(self) -> None:
        """Its transport has frames, or the end of them."""
        self.active_at = self._host.now
        if not self.is_stalled:
            self.take_frames()

    def take_frames(self) -> None:
        """Give the node the frames that are here, as far as this turn and the limits allow."""
        self.is_queued = False
        transport = self.transport
        feed, next_frame = self._host.feed, transport.next_frame
        meter = self._host.meter
        of_turn, clock = meter.of_turn, meter.clock
        until = clock() + self._host.share_s
        unanswered_max = 0 if transport.is_choked else UNANSWERED_MAX
        for _ in range(FRAMES_MAX):
            if (
                self._issued - self._owed + 1 >= unanswered_max
                or self.is_deaf
                or self._unanswered_bytes > UNANSWERED_BYTES_MAX
            ):
                self.is_stalled = True
                return
            if transport.backlog > BACKLOG_MAX:
                self.is_stalled = True
                transport.tell_when_sent()
                return
            try:
                frame = next_frame()
            except BadSize as bad:
                self.hang_up(str(bad))
                return
            except StreamEnded as end:
                self.broke(str(end))
                return
            if frame is None:
                self.is_stalled = False
                if self._host.room.waiting:
                    self.leave_room()
                transport.unmute()
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
        self.is_stalled = True
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
        if self.is_stalled and self._issued - self._owed < UNANSWERED_MAX // 2:
            self._go_on()

    def hang_up(self, reason: str) -> None:
        """Close when all that was posted has been sent; what comes after this is not."""
        if self._leaving:
            return
        self.mute()
        self._leaving = reason
        self.transport.tell_when_sent()

    def give_up(self, reason: str) -> None:
        """Close at once; what it still has to send is lost."""
        self._host.connections.drop(self, reason)

    def mute(self) -> None:
        """Take no more requests."""
        self.is_deaf = self.is_stalled = True
        self.transport.mute()

    def moved(self, transport: Transport) -> None:
        """Another moves its bytes from now on."""
        self.transport = transport
        if self.is_deaf:
            transport.mute()
        if self._leaving or self.is_stalled:
            transport.tell_when_sent()

    @property
    def has_taken_room(self) -> bool:
        """Whether it holds some of what is shared."""
        return self.transport.has_taken_room

    def has_room(self) -> None:
        """There may be room for the large request that has begun."""
        self.transport.has_room()

    def leave_room(self) -> None:
        """Give back the room for large requests, if none has begun or waits for its answer."""
        if not self._awaited:
            self.transport.leave_room()

    def rest(self) -> None:
        """Called now and then: give back memory that is not in use."""
        self.transport.rest()

    def close(self) -> None:
        """For the host, which then forgets it."""
        self.is_deaf = True  # it may still be in one of the host's lists
        self.transport.close()

    # ── what its transport says ──────────────────────────────────────────────────────

    def sent_all(self) -> None:
        """Nothing is left to send."""
        if self._leaving:
            self._host.connections.drop(self, self._leaving)
        elif self.is_stalled:
            self._go_on()

    def broke(self, reason: str, *, usual: bool = True) -> None:
        """Nothing more can be sent, or received."""
        self._host.connections.drop(self, reason, usual=usual)

    def lacks_room(self) -> None:
        """A large request has to wait for room."""
        self._host.connections.no_room_for(self)

    # ── in order ─────────────────────────────────────────────────────────────────────

    def _post(self, parts: list[Part]) -> None:
        if not self._leaving:
            self.transport.post(parts)

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
        if not self.is_queued and not self.is_deaf and not self.transport.is_choked:
            self.is_queued = True
            self._host.resuming.append(self)
