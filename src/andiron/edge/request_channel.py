"""Between the node and its network threads: all frames of a turn in one call, all replies in another.

    threads ─▶ take, once a turn ─▶ frames to their connections, notices after them
    replies, as they are given   ─▶ flush, once a turn ─▶ threads

One wake-up for many frames and one for many replies, or wake-ups cost more than threads win. The descriptor that the
loop polls for it is edge-triggered, so that nobody has to read it empty.

Whoever polls a descriptor closes it: a connection's seat here is given to another only after its thread has said that
it is CLOSED, or RELEASED to the loop. So no frame or notice is taken for that of another connection.

Read next: processors.py for the threads, native/request_channel.c for the other side.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from andiron.edge import native
from andiron.edge.loop import READ
from andiron.edge.loop_transport import Handed, LoopTransport
from andiron.edge.processor_transport import ProcessorTransport

if TYPE_CHECKING:
    from andiron.edge._native import Channel
    from andiron.edge.connection import Connection
    from andiron.edge.host import Host

EDGE = 1 << 31  # EPOLLET


class RequestChannel:
    """The connections that network threads serve, by their seats."""

    def __init__(self, host: Host, made: Channel) -> None:
        self._host, self._made = host, made
        self.seated: dict[int, ProcessorTransport] = {}
        self.served = Counter[int]()  # connections, by thread
        self._notices: list[tuple[int, int, int, Any]] = []
        self.flush = made.flush
        host.loop.watch(made.fileno(), READ | EDGE, _nothing)

    def adopt(self, connection: Connection, thread: int, handed: Handed) -> None:
        """Let a thread serve it."""
        transport = ProcessorTransport(self._host, connection, self._made, thread, handed)
        self.seated[transport.seat] = transport
        self.served[thread] += 1
        connection.moved(transport)

    def take(self) -> list[ProcessorTransport]:
        """Frames that have come, given to their connections' transports: those that had none before."""
        taken = self._made.take()
        arrived: list[ProcessorTransport] = []
        if taken is None:
            return arrived
        frames, notices = taken
        seated = self.seated
        each = iter(frames)
        for seat in each:
            transport = seated[seat]
            if not transport.frames:
                arrived.append(transport)
            transport.frames.append(next(each))
        self._notices += notices
        return arrived

    def heed(self) -> None:
        """See to what else the threads have told, now that the frames before it were seen to."""
        notices, self._notices = self._notices, []
        for seat, kind, value, more in notices:
            if kind == native.CLOSED:
                self._leaves(seat)
            elif kind == native.RELEASED:
                self._take_back(self._leaves(seat), value, more)
            else:
                self.seated[seat].heed(kind, value, more)

    def close(self) -> None:
        """End the threads, and all connections that they have."""
        self._host.loop.forget(self._made.fileno())
        self._made.stop()
        self.seated.clear()

    def _leaves(self, seat: int) -> ProcessorTransport:
        transport = self.seated.pop(seat)
        self._made.vacate(seat)
        self.served[transport.thread] -= 1
        return transport

    def _take_back(self, transport: ProcessorTransport, fd: int, received: bytes) -> None:
        connection, handed = transport.owner, transport.returned(fd, received)
        if handed is not None:
            connection.moved(LoopTransport(self._host, connection, handed))
            if handed.received:
                connection.arrived()


def _nothing(_events: int) -> None:
    """What has come is taken in every turn."""
