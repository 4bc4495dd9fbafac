"""What does the edge cost a request, and a gigabyte, before the node has done anything?

It bounds what any node behind it can reach. The node here answers a constant, throws large
requests away, or answers with a slice of a file; the load comes from another process over
loopback. CPU is the host's own (user and system), asked of it before and after: on a shared
machine trust that and not the rate.

    requests   one connection in turn, 100 connections, 10 with five in flight, 1000 connections
    produce    frames of 64 KB and 1 MB that nobody keeps
    fetch      slices of 512 KB and 1 MB of a file in the page cache, copied or by sendfile

When written (CPython 3.11, 2 shared cores; CPU-seconds per GB of the host, and with its client):

    produce 1 MB    0.15 and 0.32 with the system's receive buffer, 0.36 and 0.45 with one of 100 KB
    produce 64 KB   0.31 and 0.65                                   0.49 and 0.77
    fetch 1 MB      0.27 and 0.43 copied, 0.20 and 0.41 by sendfile: less for the host, the same for both

One JSON line a row. `python benchmarks/bench_edge.py [seconds] [row …]`
"""

from __future__ import annotations

import json
import os
import platform
import resource
import select
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from andiron.broker.settings.broker_settings import BrokerSettings
from andiron.edge.carrier import NO_SENDFILE, PIECE, Carrier
from andiron.edge.disk import PosixDisk
from andiron.edge.flusher import Flusher
from andiron.edge.host import Host
from andiron.edge.listener import Listener
from andiron.edge.loop import Loop
from andiron.edge.worker import Worker
from andiron.log.disk import FileSlice
from andiron.model.effects import Effect, Event, Received, Reply
from andiron.model.ids import NEVER, Millis
from harness import commit

SIZE = struct.Struct(">i")
USAGE = struct.Struct(">dd")
ANSWER = bytes(40)
ASK_USAGE, ASK_ANSWER, ASK_SLICE = b"u", b"a", b"s"
FILE_BYTES = 64 << 20
SETTINGS = BrokerSettings(node_id=1, process_roles=("broker",), controller_listener_names=())


class TrivialNode:
    """Answers by the first byte of a frame."""

    ready = True
    controller_listeners: tuple[str, ...] = ()
    brokers_listener = ""
    broken = trouble = None
    patience_ms = 0

    def __init__(self, folder: str) -> None:
        self._file = PosixDisk().open(f"{folder}/slices")
        self._file.append(bytes(FILE_BYTES))
        self._at = 0

    def start(self, now: Millis) -> list[Effect]:
        return []

    def stop(self, now: Millis) -> None: ...

    def next_deadline(self) -> Millis:
        return NEVER

    def step(self, event: Event, now: Millis) -> list[Effect]:
        if type(event) is not Received:
            return []
        conn, ticket, frame = event
        kind = frame[0]
        if kind == ASK_ANSWER[0]:
            return [Reply(conn, ticket, [ANSWER])]
        if kind == ASK_SLICE[0]:
            length = SIZE.unpack_from(frame, 1)[0]
            self._at = (self._at + length) % (FILE_BYTES - length)
            return [Reply(conn, ticket, [ANSWER, FileSlice(self._file, self._at, length)])]
        used = resource.getrusage(resource.RUSAGE_SELF)
        return [Reply(conn, ticket, [USAGE.pack(used.ru_utime, used.ru_stime)])]


@contextmanager
def hosted(carrier: Carrier | None = None, buffers: int = 100 << 10) -> Iterator[int]:
    """A host in a process of its own; its port."""
    settings = replace(SETTINGS, socket_send_buffer_bytes=buffers, socket_receive_buffer_bytes=buffers)
    listener = Listener("PLAINTEXT", "127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as folder:
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            loop = Loop()
            host = Host(
                TrivialNode(folder), settings, loop, Flusher(loop.wake), Worker(loop.wake), carrier=carrier
            )
            host.start([listener])
            os.write(tell, b"ready")
            host.run()
        os.read(told, 5)
        try:
            yield listener.port
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)


def frame(body: bytes) -> bytes:
    return SIZE.pack(len(body)) + body


def connect(port: int) -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def usage(port: int) -> tuple[float, float]:
    """User and system seconds the host has used."""
    with connect(port) as link:
        link.sendall(frame(ASK_USAGE))
        return USAGE.unpack(link.recv(100)[4:])


class Load:
    """Links to a host, each with so many requests in flight."""

    def __init__(self, port: int, links: int, in_flight: int, request: bytes, answer_bytes: int) -> None:
        self._request, self._in_flight, self._answer_bytes = request, in_flight, answer_bytes
        self._poll = select.epoll()
        self._links: dict[int, list[Any]] = {}  # fd → socket, bytes of an answer, bytes not sent
        for _ in range(links):
            link = connect(port)
            link.setblocking(False)
            self._links[link.fileno()] = [link, 0, b""]
            self._poll.register(link.fileno(), select.EPOLLIN)
        for state in self._links.values():
            self._push(state, request * in_flight)

    def run(self, seconds: float) -> int:
        """How many were answered meanwhile."""
        answered, scratch = 0, bytearray(1 << 20)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for fd, events in self._poll.poll(1):
                state = self._links[fd]
                if events & select.EPOLLOUT:
                    self._push(state, b"")
                    continue
                got = state[1] + state[0].recv_into(scratch)
                whole, state[1] = divmod(got, self._answer_bytes)
                if whole:
                    answered += whole
                    self._push(state, self._request * whole)
        return answered

    def _push(self, state: list[Any], data: bytes) -> None:
        """Send what the socket takes; the rest when it takes more."""
        link, _, rest = state
        data = rest + data if rest else data
        try:
            sent = link.send(data)
        except BlockingIOError:
            sent = 0
        state[2] = data[sent:]
        if rest or state[2]:
            self._poll.modify(link.fileno(), select.EPOLLIN | (select.EPOLLOUT if state[2] else 0))


def measure(name: str, port: int, load: Load, size: int, seconds: float) -> None:
    load.run(seconds / 4)  # grows buffers and windows; not counted
    before, before_us, began = usage(port), own_usage(), time.monotonic()
    count = load.run(seconds)
    took, after, after_us = time.monotonic() - began, usage(port), own_usage()
    user, system = after[0] - before[0], after[1] - before[1]
    row = {
        "bench": name,
        "requests/s": round(count / took),
        "user_us": round(user / count * 1e6, 2),
        "system_us": round(system / count * 1e6, 2),
    }
    if size > 10_000:
        gb = count * size / 1e9
        row |= {
            "mb/s": round(gb / took * 1000),
            "cpu_s/gb": round((user + system) / gb, 3),
            "with_client_cpu_s/gb": round((user + system + after_us - before_us) / gb, 3),
        }
    print(json.dumps(row | {"python": platform.python_version(), "commit": commit()}), flush=True)


def own_usage() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


ROWS: dict[str, Callable[[float], None]] = {}


def requests(name: str, links: int, in_flight: int) -> None:
    def run(seconds: float) -> None:
        with hosted() as port:
            measure(
                name, port, Load(port, links, in_flight, frame(ASK_ANSWER + bytes(140)), 44), 140, seconds
            )

    ROWS[name] = run


def produce(name: str, size: int, links: int, in_flight: int, buffers: int) -> None:
    def run(seconds: float) -> None:
        with hosted(buffers=buffers) as port:
            measure(
                name, port, Load(port, links, in_flight, frame(ASK_ANSWER + bytes(size)), 44), size, seconds
            )

    ROWS[name] = run


def fetch(name: str, size: int, sendfile_min: int, buffers: int) -> None:
    def run(seconds: float) -> None:
        with hosted(Carrier(sendfile_min=sendfile_min), buffers) as port:
            measure(
                name, port, Load(port, 2, 1, frame(ASK_SLICE + SIZE.pack(size)), 44 + size), size, seconds
            )

    ROWS[name] = run


requests("requests 1x1", 1, 1)
requests("requests 100x1", 100, 1)
requests("requests 10x5", 10, 5)
requests("requests 1000x1", 1000, 1)
for buffers in (100 << 10, -1):
    kind = "100K" if buffers > 0 else "auto"
    produce(f"produce 64K {kind}", 64 << 10, 2, 5, buffers)
    produce(f"produce 1M {kind}", 1 << 20, 2, 2, buffers)
    for way, least in (("copied", NO_SENDFILE), ("by sendfile", PIECE + 1)):
        fetch(f"fetch 512K {way} {kind}", 512 << 10, least, buffers)
        fetch(f"fetch 1M {way} {kind}", 1 << 20, least, buffers)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    wanted = sys.argv[2:] or list(ROWS)
    for name, run in ROWS.items():
        if any(name.startswith(each) for each in wanted):
            run(seconds)


if __name__ == "__main__":
    main()
