from __future__ import annotations

import errno
import socket

import pytest

from andiron.edge.connections import RETRY_MS
from andiron.edge.listener import CannotListen, Listener
from edge.playground import HandClock, Playground


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_port_zero_is_a_free_one():
    listener = Listener("PLAINTEXT", "127.0.0.1", 0)
    assert listener.port > 0
    listener.close()


def test_a_port_in_use_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotListen) as refused:
            Listener("PLAINTEXT", "127.0.0.1", port)
    where, remedy = f"PLAINTEXT://127.0.0.1:{port}", "stop what listens there, or choose another"
    assert str(refused.value) == f"cannot listen on {where}: the port is in use; {remedy}"


def test_a_port_taken_between_binding_and_listening_is_the_same_line():
    with Playground() as play:
        first = Listener("A", "127.0.0.1", 0)
        second = Listener("B", "127.0.0.1", first.port)
        first.open(play.loop, play.host.connections, play.settings)
        with pytest.raises(CannotListen, match="the port is in use"):
            second.open(play.loop, play.host.connections, play.settings)
        first.close()
        second.close()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "kein-höst.invalid", "ö" * 70, "x" * 300])
def test_a_host_that_is_not_there_is_one_clear_line(host):
    with pytest.raises(CannotListen, match="there is no host of that name"):
        Listener("PLAINTEXT", host, 9092)


def test_an_address_of_another_machine_is_one_clear_line():
    with pytest.raises(CannotListen, match="cannot assign requested address"):
        Listener("PLAINTEXT", "192.0.2.1", 0)


def test_a_name_is_looked_up_and_ipv4_comes_first():
    listener = Listener("PLAINTEXT", "localhost", 0)
    assert listener._socket.family == socket.AF_INET
    listener.close()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_no_host_is_every_address_of_both_families():
    with Playground() as play:
        listener = Listener("ALL", "", 0)
        listener.open(play.loop, play.host.connections, play.settings)
        links = [socket.create_connection((host, listener.port)) for host in ("127.0.0.1", "::1")]
        play.turn_until(lambda: play.host.connections.accepted == 2)
        assert [(event.listener, event.host) for event in play.node.events] == [
            ("ALL", "127.0.0.1"),
            ("ALL", "::1"),
        ]
        for each in (*links, listener):
            each.close()


def test_without_ipv6_no_host_is_every_ipv4_address(monkeypatch):
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    listener = Listener("ALL", "", 0)
    assert listener._socket.getsockname()[0] == "0.0.0.0"
    listener.close()


def test_nobody_is_let_in_before_it_is_opened():
    listener = Listener("PLAINTEXT", "127.0.0.1", 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", listener.port))
    listener.close()


def test_connections_send_without_delay_and_have_the_buffers_that_were_set():
    with Playground(socket_send_buffer_bytes=50_000, socket_receive_buffer_bytes=60_000) as play:
        play.connect()
        link = play.host.connections.by_number[1].transport._link
        assert link.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert link.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) in (50_000, 100_000)  # Linux doubles it
        assert link.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) in (60_000, 120_000)


def test_a_turn_accepts_only_so_many():
    with Playground(socket_listen_backlog_size=200) as play:
        for _ in range(100):
            play.knock()
        play.turn()
        assert play.host.connections.accepted == 64
        play.turn()
        assert play.host.connections.accepted == 100


class OutOfDescriptors:
    """A listening socket in a process that has too many files open."""

    def __init__(self, real: socket.socket) -> None:
        self.real, self.tries = real, 0
        self.fileno, self.close = real.fileno, real.close

    def accept(self) -> None:
        self.tries += 1
        raise OSError(errno.EMFILE, "Too many open files")


def test_without_descriptors_it_pauses_instead_of_spinning(caplog):
    clock = HandClock()
    with Playground(clock=clock) as play:
        real = play.listener._socket
        play.listener._socket = short = OutOfDescriptors(real)
        waiting = play.knock()
        waiting.send(b"echo:in")
        play.turn(3)
        assert short.tries == 1
        assert play.loop.poll(0) == []
        assert "Too many open files" in caplog.text

        play.listener._socket = real
        clock.time += RETRY_MS
        assert waiting.receive() == b"in"


class GoneBeforeAccepted(OutOfDescriptors):
    """A listening socket whose first visitor has left again."""

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        self.tries += 1
        if self.tries == 1:
            raise ConnectionAbortedError(errno.ECONNABORTED, "Software caused connection abort")
        return self.real.accept()


def test_one_who_left_before_being_accepted_does_not_matter():
    with Playground() as play:
        play.listener._socket = GoneBeforeAccepted(play.listener._socket)
        client = play.connect()
        client.send(b"echo:in")
        assert client.receive() == b"in"
