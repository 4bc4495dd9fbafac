"""When the loop hands connections to network threads, and when it takes them back.

    loop busy for two windows ─▶ whoever asked for something in the last goes to a thread
    node at rest for eight     ─▶ all come back

A request by itself is served soonest by the loop: through a thread it waits for two wake-ups more. Threads win where
the loop has no time left, since they take the kernel's part of a request off it. So nothing moves while there is time,
and whoever has moved stays until the node has been at rest for a while.

FIGURES

Read next: processors.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from andiron.edge.loop_transport import LoopTransport

if TYPE_CHECKING:
    from andiron.edge.connection import Connection
    from andiron.edge.host import Host

WINDOW_S = 0.1
FULL_WINDOWS = 2
RESTING = 0.3  # of the time; it is what a loop at 0.9 has left to do when threads help
RESTING_WINDOWS = 20


class Handover:
    """Looks at how busy the loop is, once a window."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._at, self._busy_s = host.meter.ended, host.meter.busy_s
        self.due = self._at + WINDOW_S  # when to look next, by the meter's clock
        self._full = self._resting = 0  # windows, one after the other

    def welcome(self, connection: Connection) -> None:
        """One has come: where threads are to serve all, it is theirs at once."""
        if self._host.settings.network_threads_busy_ratio <= 0:
            self._host.processors.adopt(connection)

    def look(self) -> None:
        """A window is over."""
        meter, processors = self._host.meter, self._host.processors
        busy = (meter.busy_s - self._busy_s) / (meter.ended - self._at)
        self._at, self._busy_s, self.due = meter.ended, meter.busy_s, meter.ended + WINDOW_S
        if not processors.possible:
            return
        processors.release_surplus()
        ratio = self._host.settings.network_threads_busy_ratio
        self._full = self._full + 1 if busy >= ratio else 0
        self._resting = self._resting + 1 if ratio > 0 and busy < RESTING else 0
        if self._full:
            self._relieve(self._full >= FULL_WINDOWS)
        elif self._resting >= RESTING_WINDOWS and processors.connections:
            for connection in self._host.connections.by_number.values():
                processors.release(connection)

    def _relieve(self, now: bool) -> None:
        """Hand over whoever has asked for something since the last look, if it is time."""
        for connection in self._host.connections.by_number.values():
            asked = connection.requests > connection.seen
            connection.seen = connection.requests
            if now and asked and isinstance(connection.transport, LoopTransport):
                self._host.processors.adopt(connection)
