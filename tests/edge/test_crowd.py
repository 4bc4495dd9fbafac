"""Thousands of connections, readers that do not read, and a host that runs in a thread of its own."""

from __future__ import annotations

import resource
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from andiron.edge.disk import PosixDisk
from andiron.edge.loop import PortablePoll
from edge.playground import Playground, framed

CONNECTIONS = 2_000


@contextmanager
def running(play: Playground) -> Iterator[Playground]:
    """The host turns by itself; clients may block."""
    thread = threading.Thread(target=play.host.run)
    thread.start()
    try:
        yield play
    finally:
        play.host.stop()
        thread.join()
        play.close()


def connect(play: Playground, receive_buffer: int = 0) -> socket.socket:
    link = socket.socket()
    if receive_buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    link.connect(("127.0.0.1", play.listener.port))
    return link


def receive(link: socket.socket) -> bytes:
    size = struct.unpack(">i", link.recv(4, socket.MSG_WAITALL))[0]
    return link.recv(size, socket.MSG_WAITALL)


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 3 * CONNECTIONS, reason="too few descriptors"
)
def test_two_thousand_connections_are_all_served():
    with running(Playground(socket_listen_backlog_size=500)) as play:
        links = [connect(play) for _ in range(CONNECTIONS)]
        for turn in range(3):
            for n, link in enumerate(links):
                link.sendall(framed(b"echo:%d" % (n + turn)) * 2)
            for n, link in enumerate(links):
                assert receive(link) == receive(link) == b"%d" % (n + turn)
        for link in links:
            link.close()
    assert play.host.connections.accepted == CONNECTIONS
    assert play.host.connections.requests == CONNECTIONS * 6
    assert play.node.stopped_at is not None


def test_readers_who_do_not_read_cost_no_memory(tmp_path):
    file = PosixDisk().open(f"{tmp_path}/file")
    file.append(bytes(32 << 20))
    with running(Playground(file=file)) as play:
        before = resident_bytes()
        links = [connect(play, receive_buffer=4096) for _ in range(50)]
        for link in links:
            link.sendall(framed(b"slice:0:%d" % (32 << 20)) * 2)
        other = connect(play)
        for n in range(200):
            other.sendall(framed(b"echo:%d" % n))
            assert receive(other) == b"%d" % n
        assert resident_bytes() - before < 64 << 20, "of 3.2 GB that are due"
        for link in (*links, other):
            link.close()


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_a_flood_does_not_keep_others_from_being_served():
    with running(Playground()) as play:
        flood = connect(play)
        stop = threading.Event()

        def pour() -> None:
            data = framed(b"silent:" + bytes(20)) * 5_000
            while not stop.is_set():
                flood.sendall(data)

        pouring = threading.Thread(target=pour)
        pouring.start()
        quiet = connect(play)
        for n in range(100):
            quiet.sendall(framed(b"echo:%d" % n))
            assert receive(quiet) == b"%d" % n
        stop.set()
        pouring.join()
        flood.close()
        quiet.close()


def test_the_portable_poll_serves_as_well():
    with running(Playground(poll=PortablePoll())) as play:
        links = [connect(play) for _ in range(20)]
        for n, link in enumerate(links):
            link.sendall(framed(b"echo:%d" % n) * 100 + framed(b"size:500000"))
        for n, link in enumerate(links):
            assert [receive(link) for _ in range(100)] == [b"%d" % n] * 100
            assert len(receive(link)) == 500_000
            link.close()
