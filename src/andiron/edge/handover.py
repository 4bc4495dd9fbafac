"""When the loop hands connections to network threads, and when it takes them back.

    busy for two windows, with a crowd or large fetches ─▶ whoever asked for something goes to a thread
    at rest for twenty, or threads are to have none     ─▶ all come back

A request by itself is served soonest by the loop: through a thread it waits for two wake-ups more. Threads win where a
turn of the loop serves many, since they take the kernel's part of each off it, and where large slices are sent. They
win nothing where one receive has several requests in it. CPU of a small produce and of a GB that is fetched, by the
loop, and by two threads: the node's own and all (Linux 6.18, 2 cores that eight others wanted; rounds of a second):

    connections        loop           threads                  receives in a turn of the loop
    1                  44 µs          50, 76 µs                1
    10, 5 in flight    14 µs          13, 17 µs                7
    100                22 to 24 µs    14 to 15, 19 to 24 µs    50 to 80
    1000               27 to 29 µs    16, 25 µs                256
    4 fetch 1 MB       0.36 s         0.11, 0.30 s             1, and 100 MB a window by sendfile
    4 fetch 64 KB      1.33 s         0.93, 1.41 s             1

How busy the loop is was 0.5 to 0.75 in all of these but the 1000, for the machine had other things to do; on one
that has not it is near 1. So that alone does not tell a crowd from one client in a hurry.

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
CROWD = 8  # receives in a turn
LARGE_BYTES = 16 << 20  # by sendfile, in a window
PIPELINED = 3  # requests in a receive, from which on threads win nothing
RESTING = 0.15  # of the time; well below what is left of a busy loop's when threads help
RESTING_WINDOWS = 20


class Handover:
    """Looks at how busy the loop is, once a window."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._at, self._busy_s = host.meter.ended, host.meter.busy_s
        self.due = self._at + WINDOW_S  # when to look next, by the meter's clock
        self._full = self._resting = 0  # windows, one after the other
        self._turns = self._sendfile_bytes = 0  # when it last looked at who asks

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
        self._full = self._full + 1 if busy >= ratio > 0 else 0
        self._resting = self._resting + 1 if busy < min(ratio, RESTING) else 0
        if self._full:
            self._relieve()
        elif processors.connections and (ratio > 1 or self._resting >= RESTING_WINDOWS):
            self._resting = 0
            for connection in self._host.connections.by_number.values():
                processors.release(connection)

    def _relieve(self) -> None:
        """See who asks the loop for something, and hand them over if they are enough."""
        asking: list[Connection] = []
        receives = 0
        for connection in self._host.connections.by_number.values():
            asked, connection.seen = connection.requests - connection.seen, connection.requests
            if isinstance(connection.transport, LoopTransport):
                received, connection.transport.receives = connection.transport.receives, 0
                receives += received
                if 0 < asked < PIPELINED * received:
                    asking.append(connection)
        turns, self._turns = self._host.meter.turns - self._turns, self._host.meter.turns
        sent, bytes_now = self._sendfile_bytes, self._host.carrier.sendfile_bytes
        self._sendfile_bytes = bytes_now
        if self._full >= FULL_WINDOWS and (receives >= CROWD * turns or bytes_now - sent >= LARGE_BYTES):
            for connection in asking:
                self._host.processors.adopt(connection)
