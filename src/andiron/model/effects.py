"""What crosses between a node and its edge: events in, effects out.

    edge ── Connected, Received, Answered, Flushed, Finished, Woken ──▶ node.step(event, now)
    edge ◀── Reply, Close, Call, Flush, Work, Reconfigure ───────────── [effects]

These are the only doors. Both edges, the real one (edge/host.py) and the simulated
one (sim/world.py), carry out the same effects for the same node, so what holds in
simulation holds on the socket.

Frames cross as bytes: what follows the four-byte size, header included. A received
frame is a view into the receive buffer and is good only until `step` returns; a node
copies what it keeps, and appends records before it returns.

Each request gets a ticket from its edge. Replies leave in the order of the tickets,
whatever the order in which the node gives them; a node owes every ticket exactly one
Reply, or a Close of the connection.

What a node asks of another node is a Call, and every Call comes back exactly once: Answered or Unanswered.

Named tuples, since one of each is made for every request.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, NamedTuple, Protocol, TypeAlias

from andiron.model.ids import Address

# A part of a reply: bytes, or anything with a length that the edge knows how to send (a FileSlice).
Part: TypeAlias = Sized


class Job(Protocol):
    """Work too slow for the loop. It is handed to another process whole, so it must pickle."""

    def run(self, disk: Any) -> Any:
        """Do it on `disk` (log/disk.py) and return what `Finished` should carry; that pickles too."""


# ── events: what an edge tells a node ────────────────────────────────────────────────


class Connected(NamedTuple):
    """A client has connected to `listener` from `host`; `conn` names the connection from now on."""

    conn: int
    listener: str
    host: str


class Disconnected(NamedTuple):
    """The connection is gone; replies to it go nowhere."""

    conn: int


class Received(NamedTuple):
    """One whole request frame."""

    conn: int
    ticket: int
    frame: memoryview


class Answered(NamedTuple):
    """Another node's answer to a Call: response header and body, good until `step` returns."""

    token: int
    frame: memoryview


class Unanswered(NamedTuple):
    """There is no answer to a Call, and will be none; whether it was heard is not known."""

    token: int
    reason: str


class Flushed(NamedTuple):
    """A Flush is done: what the files held when it was asked for is on the disk, unless `error`."""

    token: int
    error: str | None = None


class Finished(NamedTuple):
    """A Work is done: its result, or why there is none."""

    token: int
    result: Any
    error: str | None = None


class Woken(NamedTuple):
    """The node's `next_deadline()` has come."""


Event = Connected | Disconnected | Received | Answered | Unanswered | Flushed | Finished | Woken


# ── effects: what a node asks of its edge ────────────────────────────────────────────


class Reply(NamedTuple):
    """Answer a request: response header and body in parts, without the size; None sends nothing (acks=0)."""

    conn: int
    ticket: int
    parts: list[Part] | None


class Close(NamedTuple):
    """Send what is owed up to now, then hang up; the reason is logged."""

    conn: int
    reason: str


class Call(NamedTuple):
    """Ask another node: request header and body in parts, without the size. The header's correlation id is the token.

    Calls of one lane to one node share a connection and are answered in their order. What may be kept waiting there
    (a long poll) has a lane of its own.
    """

    token: int
    to: Address
    lane: str
    parts: list[Part]
    timeout_ms: int


class Flush(NamedTuple):
    """Bring these files to the disk (fsync) off the loop, then say Flushed(token)."""

    token: int
    files: tuple[Any, ...]


class Work(NamedTuple):
    """Run a job off the loop, in another process where it would hold the interpreter, then say Finished."""

    token: int
    job: Job


class Reconfigure(NamedTuple):
    """The broker's settings were changed while it runs: those that are the edge's hold from now on."""

    settings: Any


Effect = Reply | Close | Call | Flush | Work | Reconfigure
