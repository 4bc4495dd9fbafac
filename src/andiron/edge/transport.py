"""How the bytes of a connection come and go: what `Connection` needs, whoever moves them.

    Connection  ── next_frame, post, mute … ──▶  Transport   by the loop (loop_transport.py), or
                ◀─ arrived, sent_all, broke ──               by a network thread (processor_transport.py)

A connection begins with the loop and may be moved between the two at any time (handover.py); it has its rules, and
does not know which of them it has.

Read next: loop_transport.py.
"""

from __future__ import annotations

from typing import Protocol

from andiron.model.effects import Part
from andiron.model.errors import AndironError


class StreamEnded(AndironError):
    """Nothing more will come: the client closed the connection, or it broke."""


class Transport(Protocol):
    """The bytes of one connection."""

    is_choked: bool  # the socket takes no more output, and requests had better wait

    @property
    def backlog(self) -> int:
        """Bytes of output that are not sent."""

    @property
    def has_taken_room(self) -> bool:
        """Whether it holds some of the room that large requests share."""

    def next_frame(self) -> memoryview | None:
        """The next whole frame, good until the next call; None if there is none. Raises BadSize, StreamEnded."""

    def post(self, parts: list[Part]) -> None:
        """Send a reply, after those before it; it leaves at the end of the turn."""

    def tell_when_sent(self) -> None:
        """Call the owner's `sent_all` once nothing is left to send."""

    def mute(self) -> None:
        """Receive nothing, until `unmute`."""

    def unmute(self) -> None:
        """All frames are taken: receive more."""

    def has_room(self) -> None:
        """There may be room for the large request that has begun."""

    def leave_room(self) -> None:
        """Give back what is shared, if no large request has begun."""

    def rest(self) -> None:
        """Called now and then: give back memory that is not in use."""

    def close(self) -> None:
        """At once; what is not sent is lost."""
