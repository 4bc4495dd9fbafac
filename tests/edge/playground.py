"""A host in the test's own thread, turned by hand, with clients on real sockets beside it.

    play = Playground()
    client = play.connect()
    client.send(b"echo:a")
    assert client.receive() == b"a"      # turns the host until the answer is there

Nothing sleeps: a receive turns the host, and the host's poll waits for the kernel.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from andiron.broker.settings.broker_settings import BrokerSettings
from andiron.edge import native
from andiron.edge.carrier import Carrier
from andiron.edge.flusher import Flusher
from andiron.edge.host import Background, Host
from andiron.edge.listener import Listener
from andiron.edge.loop import Loop, Poll
from andiron.edge.worker import Worker
from andiron.model.ids import Millis
from edge.scripted import ScriptedNode

SETTINGS = BrokerSettings(
    node_id=1, process_roles=("broker", "controller"), controller_listener_names=("CONTROLLER",)
)
SIZE = struct.Struct(">i")
POLL_MS = 20
TURNS_MAX = 20_000

TRANSPORTS = ["loop", "threads"] if native.Channel else ["loop"]
by_threads = False  # whether network threads serve the connections of playgrounds that do not say


class HandClock:
    """Time that passes when a test says so."""

    missed_ms = 0

    def __init__(self, now: int = 1_000_000) -> None:
        self.time = now

    def now(self) -> Millis:
        return Millis(self.time)


class Client:
    """One connection to the host, from outside."""

    def __init__(self, play: Playground, link: socket.socket) -> None:
        self._play, self.link = play, link
        self._got = b""

    def send(self, *bodies: bytes) -> None:
        """Send frames; all at once."""
        self.send_raw(b"".join(framed(body) for body in bodies))

    def send_raw(self, data: bytes) -> None:
        """Send bytes, turning the host while they do not fit."""
        view = memoryview(data)
        while view:
            try:
                view = view[self.link.send(view) :]
            except BlockingIOError:
                self._play.turn()

    def receive(self) -> bytes:
        """One whole answer."""
        size = SIZE.unpack(self.receive_raw(4))[0]
        return self.receive_raw(size)

    def receive_raw(self, count: int) -> bytes:
        parts, missing = [self._got[:count]], count - len(self._got)
        self._got = self._got[count:]
        for _ in range(TURNS_MAX):
            if missing <= 0:
                return b"".join(parts)
            piece = self.take(missing)
            if piece is None:
                self._play.turn()
                continue
            assert piece, "the host hung up"
            parts.append(piece)
            missing -= len(piece)
        raise AssertionError("no answer came")

    def take(self, count: int = 1 << 20) -> bytes | None:
        """What has arrived, without turning the host: None if nothing, empty if it hung up."""
        try:
            return self.link.recv(count)
        except BlockingIOError:
            return None
        except ConnectionResetError:
            return b""

    def is_hung_up(self) -> bool:
        """Whether the host closes this connection now, without sending anything before."""
        for _ in range(TURNS_MAX):
            piece = self.take()
            if piece is not None:
                return piece == b""
            self._play.turn()
        return False

    def close(self) -> None:
        self.link.close()


class Playground:
    """A host with a scripted node."""

    def __init__(
        self,
        *,
        node: Any = None,
        file: Any = None,
        clock: Any = None,
        carrier: Carrier | None = None,
        poll: Poll | None = None,
        connections_possible: int = 1 << 20,
        threads: bool | None = None,
        **settings: Any,
    ) -> None:
        """`threads`: network threads serve all connections, or none; what `by_threads` says if it is not said."""
        self.node = node or ScriptedNode(file)
        self.loop = Loop(poll)
        threads = by_threads if threads is None else threads
        settings = {
            "network_threads_busy_ratio": 0.0 if threads else 2.0,
            "num_network_threads": 2,
        } | settings
        self.settings = replace(SETTINGS, **settings)
        self.flusher, self.worker = Flusher(self.loop.wake), Worker(self.loop.wake)
        self.host = Host(
            self.node,
            self.settings,
            self.loop,
            Background(self.flusher, self.worker),
            clock=clock,
            carrier=carrier,
        )
        self.host.connections.possible = connections_possible
        self.host.processors.possible = native.Channel is not None
        self.listener = Listener("PLAINTEXT", "127.0.0.1", 0)
        names = (*self.node.controller_listeners, self.node.brokers_listener)
        self.inner = [Listener(name, "127.0.0.1", 0) for name in names if name]
        self.host.start([self.listener, *self.inner])
        self.clients: list[Client] = []

    def change(self, **settings: Any) -> None:
        """Settings that take effect while the host runs."""
        self.host.settings = replace(self.settings, **settings)

    def connect(self, *, receive_buffer: int = 0, to: Listener | None = None) -> Client:
        """A client that the host has accepted."""
        client = self.knock(receive_buffer=receive_buffer, to=to)
        before = self.host.connections.accepted + self.host.connections.refused
        self.turn_until(lambda: self.host.connections.accepted + self.host.connections.refused > before)
        return client

    def knock(self, *, receive_buffer: int = 0, to: Listener | None = None) -> Client:
        """A client whom the kernel has let in, and the host not yet."""
        link = socket.socket()
        if receive_buffer:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        link.connect(("127.0.0.1", (to or self.listener).port))
        link.setblocking(False)
        self.clients.append(Client(self, link))
        return self.clients[-1]

    def turn(self, count: int = 1) -> None:
        for _ in range(count):
            self.host.turn(Millis(self.host.now + POLL_MS))

    def turn_until(self, condition: Callable[[], bool]) -> None:
        for _ in range(TURNS_MAX):
            if condition():
                return
            self.turn()
        raise AssertionError("it did not come about")

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.host.connections.close_doors()
        self.host.connections.close_all()
        self.host.processors.close()
        self.flusher.drain()
        self.worker.close()
        self.loop.close()

    def __enter__(self) -> Playground:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def framed(body: bytes) -> bytes:
    return SIZE.pack(len(body)) + body
