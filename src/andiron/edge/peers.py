"""Calls to other nodes: connections that this node makes, and what comes back on them.

    Call(token, to, lane) ─▶ the link of (to, lane) ─▶ outbox ─▶ socket ─▶ inbox ─▶ Answered(token)
                             made if there is none                     broken, late ─▶ Unanswered(token)

A node answers the requests of one connection in their order, so the first answer belongs to the oldest call that waits.
A link on which a call is late, or an answer is not the one that is due, is of no more use: all that wait on it are
unanswered, and the next call makes a new one. To make one takes as long as the call may take; how long to wait before
the next try is for the node to say, which knows why it asks.

The law easy to break: the node hears of a failure in a later turn, never while its own effects are carried out.

Read next: host.py.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from andiron.edge.inbox import BadSize, Inbox
from andiron.edge.loop import BROKEN, READ, WRITE
from andiron.edge.outbox import Outbox
from andiron.model.effects import Answered, Call, Unanswered
from andiron.model.ids import NEVER, Address, Millis
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.edge.host import Host

ANSWER_BYTES_MAX = 1 << 30
IN_PROGRESS = (0, errno.EINPROGRESS, errno.EWOULDBLOCK)

_correlation_at = struct.Struct(">i").unpack_from

log = logging.getLogger(__name__)


class WaitingCall(NamedTuple):
    """A call that was not answered yet."""

    token: int
    until: Millis


class Peers:
    """The links to other nodes, by address and lane."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._links: dict[tuple[Address, str], Link] = {}
        self._failed: list[Unanswered] = []

    def call(self, call: Call) -> None:
        """Ask; what comes of it is an event of a later turn."""
        key = call.to, call.lane
        link = self._links.get(key)
        if link is None:
            try:
                link = self._links[key] = Link(self._host, self, key)
            except OSError as error:
                self._failed.append(Unanswered(call.token, f"{call.to}: {error.strerror or error}"))
                return
        link.ask(call)

    @property
    def has_unsent(self) -> bool:
        """Whether something is still to be sent."""
        return any(link.has_unsent for link in self._links.values())

    def next_deadline(self) -> Millis:
        """When a call is late; at once if there are failures to tell."""
        if self._failed:
            return self._host.now
        if not self._links:
            return NEVER  # asked for in every turn
        return min((link.next_deadline() for link in self._links.values()), default=NEVER)

    def tick(self) -> None:
        """Give up what is late, and tell of all that has failed."""
        for link in list(self._links.values()):
            if link.next_deadline() <= self._host.now:
                link.give_up("no answer in time")
        failed, self._failed = self._failed, []
        for each in failed:
            self._host.feed(each)

    def gave_up(self, link: Link, reason: str) -> None:
        """A link is gone, with all that waits on it."""
        del self._links[link.key]
        told = f"{link.key[0]}: {reason}"
        log.debug(
            Line("Connection to {address} is closed", address=link.key[0], lane=link.key[1], reason=reason)
        )
        self._failed += [Unanswered(each.token, told) for each in link.waiting]

    def close_all(self) -> None:
        """Without telling the node, which has stopped."""
        for link in self._links.values():
            link.close()
        self._links.clear()


class Link:
    """One connection to another node."""

    def __init__(self, host: Host, peers: Peers, key: tuple[Address, str]) -> None:
        self.key, self.waiting = key, deque[WaitingCall]()
        self._host, self._peers = host, peers
        self._socket = _connecting(key[0])
        self._inbox, self._outbox = Inbox(ANSWER_BYTES_MAX), Outbox(self._socket, host.carrier)
        self._connected = False
        self._events = WRITE
        self._send_due = False  # in the host's list of senders, or waiting for WRITE
        host.loop.watch(self._socket.fileno(), self._events, self._on_ready)

    @property
    def id(self) -> str:
        """What the host's log calls it."""
        return f"to {self.key[0]}"

    @property
    def has_unsent(self) -> bool:
        return bool(self._outbox.backlog)

    def ask(self, call: Call) -> None:
        """Send a request when the turn ends, or when the link is there."""
        self.waiting.append(WaitingCall(call.token, Millis(self._host.now + call.timeout_ms)))
        self._outbox.add(call.parts)
        if self._connected and not self._send_due:
            self._send_due = True
            self._host.senders.append(self)

    def next_deadline(self) -> Millis:
        return min((each.until for each in self.waiting), default=NEVER)

    def flush(self) -> None:
        """Send one piece of what is due."""
        if self._socket.fileno() < 0:
            return
        try:
            all_taken = self._outbox.send()
        except OSError as error:
            self.give_up(f"while sending: {error.strerror or error}")
            return
        if not all_taken:
            self._listen_for(READ | WRITE)
        elif self._outbox.backlog:
            self._host.senders.append(self)
        else:
            self._send_due = False
            self._listen_for(READ)

    def give_up(self, reason: str) -> None:
        """Hang up; what waits is unanswered."""
        self.close()
        self._peers.gave_up(self, reason)

    def close(self) -> None:
        self._host.loop.forget(self._socket.fileno())
        self._socket.close()

    def _on_ready(self, events: int) -> None:
        if not self._connected:
            self._finish_connecting()
        elif events & READ:
            self._receive()
        elif events & BROKEN:
            self.give_up("the connection broke")
        elif events & WRITE:
            self._host.senders.append(self)

    def _finish_connecting(self) -> None:
        failed = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            self.give_up(os.strerror(failed).lower())
            return
        self._connected = self._send_due = True
        self._host.senders.append(self)
        self._listen_for(READ)

    def _receive(self) -> None:
        try:
            count = self._inbox.receive(self._socket.recv_into)
        except BlockingIOError:
            return
        except (OSError, MemoryError) as error:
            self.give_up(f"while receiving: {error}")
            return
        if not count:
            self.give_up("it closed the connection")
            return
        self._take_answers()

    def _take_answers(self) -> None:
        while self._socket.fileno() >= 0:
            try:
                frame = self._inbox.next_frame()
            except BadSize as bad:
                self.give_up(str(bad))
                return
            if frame is None:
                return
            if not self.waiting or len(frame) < 4 or _correlation_at(frame)[0] != self.waiting[0].token:
                self.give_up("an answer to nothing that was asked")
                return
            self._host.feed(Answered(self.waiting.popleft().token, frame))

    def _listen_for(self, events: int) -> None:
        if events != self._events:
            self._events = events
            self._host.loop.change(self._socket.fileno(), events)


def _connecting(to: Address) -> socket.socket:
    """A socket that is on its way there. A name is looked up here and now: have other nodes in /etc/hosts, or near."""
    family, kind, protocol, _, where = socket.getaddrinfo(to.host, to.port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    failed = made.connect_ex(where)
    if failed not in IN_PROGRESS:
        made.close()
        raise OSError(failed, os.strerror(failed).lower())
    return made
