from __future__ import annotations

import os
import socket

import pytest

from andiron.edge import native
from andiron.edge.carrier import PIECE
from andiron.edge.disk import PosixDisk
from edge.playground import Playground

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_threads_are_started_when_first_needed_and_end_with_the_host():
    before = threads()
    with Playground(threads=False, num_network_threads=3) as play:
        client = play.connect()
        assert (threads(), play.host.processors.count) == (before, 0)
        assert play.host.processors.adopt(play.host.connections.by_number[1])
        assert (threads(), play.host.processors.count) == (before + 3, 3)
        client.send(b"echo:a")
        assert client.receive() == b"a"
    assert threads() == before


def test_connections_are_spread_over_the_threads():
    with Playground(threads=True, num_network_threads=2) as play:
        clients = [play.connect() for _ in range(6)]
        assert sorted(play.host.processors.channel.served.values()) == [3, 3]
        clients[0].close()
        play.turn_until(lambda: play.host.processors.connections == 5)
        play.connect()
        assert sorted(play.host.processors.channel.served.values()) == [3, 3]


def test_fewer_threads_at_run_time_give_their_connections_back():
    with Playground(threads=True, num_network_threads=2) as play:
        clients = [play.connect() for _ in range(4)]
        play.change(num_network_threads=1)
        play.host.processors.release_surplus()
        play.turn_until(lambda: play.host.processors.connections == 2)
        for client in clients:
            client.send(b"echo:a")
            assert client.receive() == b"a"
        play.change(num_network_threads=3)
        assert play.host.processors.adopt(play.host.connections.by_number[2])
        assert play.host.processors.count == 3


def test_where_a_thread_cannot_be_started_the_loop_serves_on(monkeypatch, caplog):
    class Exhausted:
        def __new__(cls, *_):
            raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(native, "Channel", Exhausted)
    with Playground(threads=True) as play:
        for client in (play.connect(), play.connect()):
            client.send(b"echo:a")
            assert client.receive() == b"a"
    told = [each for each in caplog.records if "Network threads cannot be started" in each.getMessage()]
    assert len(told) == 1


def test_a_large_reply_holds_up_others_of_its_thread_by_a_piece(tmp_path):
    file = PosixDisk().open(f"{tmp_path}/file")
    file.append(bytes(64 * PIECE))
    with Playground(file=file, threads=True, num_network_threads=1) as play:
        reader, other = play.connect(), play.connect()
        reader.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * PIECE)
        reader.send(b"slice:0:%d" % (60 * PIECE))
        other.send(b"echo:quick")
        assert other.receive() == b"quick"
        assert play.host.connections.by_number[1].backlog > 0
        assert len(reader.receive()) == 60 * PIECE + 2
        assert play.host.processors.sendfile_bytes > 50 * PIECE


def test_threads_that_rest_say_so():
    with Playground(threads=True) as play:
        assert play.host.processors.idle_share() == 1.0
        client = play.connect()
        client.send(b"echo:a")
        assert client.receive() == b"a"
        assert 0.0 <= play.host.processors.idle_share() <= 1.0


def test_a_link_that_is_more_than_a_socket_stays_with_the_loop():
    class Wrapped(socket.socket):
        """As TLS has it."""

    with Playground(threads=True) as play:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        play.host.connections.admit(Wrapped(fileno=ours.detach()), "PLAINTEXT", "here")
        assert play.host.processors.connections == 0
        theirs.close()
