from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from andiron.edge.loop import BROKEN, READ, WRITE, Loop, PortablePoll, best_poll


@pytest.fixture(params=[best_poll, PortablePoll])
def loop(request: pytest.FixtureRequest) -> Iterator[Loop]:
    made = Loop(request.param())
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def test_a_callback_hears_that_there_is_something_to_read(loop, pair):
    heard: list[int] = []
    loop.watch(pair[0].fileno(), READ, heard.append)

    loop.dispatch(loop.poll(0))
    assert heard == []
    pair[1].send(b"x")
    loop.dispatch(loop.poll(1))
    assert heard == [READ]


def test_only_what_was_asked_for_is_told(loop, pair):
    heard: list[int] = []
    loop.watch(pair[0].fileno(), READ, heard.append)
    pair[1].send(b"x")

    loop.change(pair[0].fileno(), WRITE)
    loop.dispatch(loop.poll(1))
    assert heard == [WRITE]


def test_one_may_be_watched_for_nothing(loop, pair):
    heard: list[int] = []
    loop.watch(pair[0].fileno(), READ, heard.append)
    pair[1].send(b"x")

    loop.change(pair[0].fileno(), 0)
    loop.dispatch(loop.poll(0))
    assert heard == []
    loop.change(pair[0].fileno(), READ)
    loop.dispatch(loop.poll(1))
    assert heard == [READ]


def test_who_is_forgotten_hears_nothing(loop, pair):
    heard: list[int] = []
    loop.watch(pair[0].fileno(), READ, heard.append)
    pair[1].send(b"x")

    loop.forget(pair[0].fileno())
    loop.dispatch(loop.poll(0))
    assert heard == []


def test_who_is_forgotten_while_others_are_called_is_not_called(loop):
    pairs = [socket.socketpair() for _ in range(2)]
    heard: list[int] = []

    def forget_the_other(fd: int) -> None:
        heard.append(fd)
        loop.forget(next(ours.fileno() for ours, _ in pairs if ours.fileno() != fd))

    for ours, theirs in pairs:
        loop.watch(ours.fileno(), READ, lambda _events, fd=ours.fileno(): forget_the_other(fd))
        theirs.send(b"x")
    loop.dispatch(loop.poll(1))
    assert len(heard) == 1
    for link in (each for pair in pairs for each in pair):
        link.close()


def test_waking_ends_a_poll_and_calls_whoever_wants_to_know(loop):
    woken: list[str] = []
    loop.on_wake = lambda: woken.append("woken")

    loop.wake()
    loop.wake()
    loop.dispatch(loop.poll(-1))
    assert woken == ["woken"]
    loop.dispatch(loop.poll(0))
    assert woken == ["woken"]


def test_waking_never_blocks_however_often(loop):
    for _ in range(100_000):
        loop.wake()
    assert loop.poll(1)


def test_a_wake_fd_is_fit_for_signals(loop):
    assert os.get_blocking(loop.wake_fd) is False


def test_a_broken_connection_is_told_without_being_asked_for():
    loop = Loop()
    listener = socket.create_server(("127.0.0.1", 0))
    theirs = socket.create_connection(listener.getsockname())
    ours, _ = listener.accept()
    heard: list[int] = []
    loop.watch(ours.fileno(), 0, heard.append)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    theirs.close()

    loop.dispatch(loop.poll(1))
    assert heard and heard[0] & BROKEN
    for each in (ours, listener, loop):
        each.close()
