"""Wires can be cut: nothing passes then, nobody is told, and it goes on where it stopped."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from andiron.chaos.proxy import CLIENTS, Proxy, caller, obey


def frame(name: bytes | None, rest: bytes = b"") -> bytes:
    """The beginning of a request by a client of that name."""
    told = b"\xff\xff" if name is None else len(name).to_bytes(2, "big") + name
    body = b"\x00\x12\x00\x04\x00\x00\x00\x01" + told + rest
    return len(body).to_bytes(4, "big") + body


class Running:
    """A proxy in a thread, before a server that echoes."""

    def __init__(self) -> None:
        self.proxy = Proxy()
        self._server = socket.create_server(("127.0.0.1", 0))
        self._links: list[socket.socket] = []
        self._lock = threading.Lock()
        self._over = False
        self.heard = b""
        self.port = self.proxy.open(2, self._server.getsockname()[1])
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._turn, self._accept)]
        for thread in self._threads:
            thread.start()

    def obey(self, **command: object) -> None:
        with self._lock:
            obey(self.proxy, command)

    def call(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self.port), 10)
        link.settimeout(10)
        return link

    def hang_up(self) -> None:
        """As a node that dies."""
        for link in [self._server, *self._links]:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def close(self) -> None:
        self._over = True
        self._threads[0].join()
        self.hang_up()
        self.proxy.close()

    def _turn(self) -> None:
        while not self._over:
            with self._lock:
                self.proxy.turn(0.005)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self._server.accept()
                self._links.append(link)
                threading.Thread(target=self._echo, args=(link,), daemon=True).start()

    def _echo(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := link.recv(4096):
                self.heard += data
                link.sendall(data)


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.close()


def hears(link: socket.socket, data: bytes) -> bool:
    """Whether this comes back."""
    got = b""
    while len(got) < len(data) and (piece := link.recv(4096)):
        got += piece
    return got == data


def is_silent(link: socket.socket) -> bool:
    link.settimeout(0.15)
    try:
        link.recv(1)
    except TimeoutError:
        return True
    finally:
        link.settimeout(10)
    return False


def test_a_caller_is_known_by_the_client_id_of_its_first_frame() -> None:
    whole = frame(b"node-3", b"rest")

    assert caller(whole) == 3
    assert caller(whole[:13]) is None
    assert caller(whole[:17]) is None
    assert caller(frame(b"rdkafka")) == CLIENTS
    assert caller(frame(None)) == CLIENTS


def test_what_is_said_arrives_and_is_answered(running: Running) -> None:
    with running.call() as link:
        link.sendall(frame(b"node-1", bytes(200_000)))

        assert hears(link, frame(b"node-1", bytes(200_000)))


def test_a_wire_that_is_cut_is_silent_and_goes_on_when_it_is_healed(running: Running) -> None:
    with running.call() as link:
        link.sendall(frame(b"node-1"))
        assert hears(link, frame(b"node-1"))
        running.obey(cut=[[1, 2]])
        link.sendall(b"more")
        assert is_silent(link)
        running.obey(cut=[])

        assert hears(link, b"more")


def test_a_call_to_one_who_is_cut_off_is_taken_and_not_answered(running: Running) -> None:
    running.obey(cut=[[1, 2]])
    with running.call() as link:
        link.sendall(frame(b"node-1"))
        assert is_silent(link)
        running.obey(cut=[])

        assert hears(link, frame(b"node-1"))


def test_what_waited_when_a_node_is_hung_up_on_is_never_heard(running: Running) -> None:
    with running.call() as link:
        link.sendall(frame(b"node-1"))
        assert hears(link, frame(b"node-1"))
        running.obey(cut=[[1, 2]])
        link.sendall(b"last words")
        running.obey(hang_up=1)
        running.obey(cut=[])

        with contextlib.suppress(ConnectionResetError):
            assert link.recv(100) == b""
    assert running.heard == frame(b"node-1")


def test_only_the_pair_that_is_cut_is(running: Running) -> None:
    running.obey(cut=[[1, 2]])
    with running.call() as link:
        link.sendall(frame(b"node-3"))

        assert hears(link, frame(b"node-3"))


def test_who_dies_is_heard_of_at_once(running: Running) -> None:
    with running.call() as link:
        link.sendall(frame(b"node-1"))
        assert hears(link, frame(b"node-1"))
        running.hang_up()

        with contextlib.suppress(ConnectionResetError):
            assert link.recv(1) == b""


def test_who_is_not_there_cannot_be_called(running: Running) -> None:
    running.hang_up()
    with running.call() as link, contextlib.suppress(ConnectionResetError):
        assert link.recv(1) == b""
