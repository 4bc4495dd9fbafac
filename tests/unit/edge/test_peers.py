"""Every call comes back once: answered, or not."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from andiron.model.effects import Answered, Call, Unanswered
from andiron.model.ids import Address
from edge.playground import HandClock, Playground
from edge.scripted import ScriptedNode

SIZE = struct.Struct(">i")
TURNS_MAX = 500


class Asking(ScriptedNode):
    """A node that keeps what comes of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[int, bytes | str]] = []

    def step(self, event: Any, now: int) -> list[Any]:
        if isinstance(event, Answered):
            self.answers.append((event.token, bytes(event.frame[4:])))
            return []
        if isinstance(event, Unanswered):
            self.answers.append((event.token, event.reason))
            return []
        return super().step(event, now)


class Other:
    """The node that is asked: a socket in the test's hands."""

    def __init__(self, play: Playground) -> None:
        self._play = play
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.setblocking(False)
        self.address = Address("127.0.0.1", self._door.getsockname()[1])
        self.links: list[socket.socket] = []

    def accept(self) -> socket.socket:
        while True:
            with contextlib.suppress(BlockingIOError):
                link, _ = self._door.accept()
                link.setblocking(False)
                self.links.append(link)
                return link
            self._play.turn()

    def hear(self, link: socket.socket) -> bytes:
        """One request."""
        return self._take(link, SIZE.unpack(self._take(link, 4))[0])

    def close(self) -> None:
        for each in (self._door, *self.links):
            each.close()

    def _take(self, link: socket.socket, count: int) -> bytes:
        got = b""
        while len(got) < count:
            with contextlib.suppress(BlockingIOError):
                piece = link.recv(count - len(got))
                assert piece, "the caller hung up"
                got += piece
                continue
            self._play.turn()
        return got


def answer(token: int, text: bytes) -> bytes:
    return SIZE.pack(4 + len(text)) + SIZE.pack(token) + text


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def node() -> Asking:
    return Asking()


@pytest.fixture
def play(node: Asking, clock: HandClock) -> Iterator[Playground]:
    with Playground(node=node, clock=clock) as made:
        yield made


@pytest.fixture
def other(play: Playground) -> Iterator[Other]:
    with contextlib.closing(Other(play)) as made:
        yield made


def call(
    play: Playground, to: Address, token: int, text: bytes = b"?", lane: str = "", ms: int = 1000
) -> None:
    play.host.peers.call(Call(token, to, lane, [SIZE.pack(token), text], ms))


def come_back(play: Playground, node: Asking, count: int) -> list[tuple[int, bytes | str]]:
    for _ in range(TURNS_MAX):
        if len(node.answers) >= count:
            return node.answers
        play.turn()
    raise AssertionError(f"{count} answers did not come, only {node.answers}")


def test_calls_of_a_lane_share_a_connection_and_are_answered_in_order(play, node, other):
    call(play, other.address, 1, b"one")
    call(play, other.address, 2, b"two")
    link = other.accept()
    assert [other.hear(link)[4:], other.hear(link)[4:]] == [b"one", b"two"]

    link.send(answer(1, b"first") + answer(2, b"second"))

    assert come_back(play, node, 2) == [(1, b"first"), (2, b"second")]
    call(play, other.address, 3)
    assert other.hear(link)[4:] == b"?", "the link is used again"


def test_a_long_poll_in_its_own_lane_holds_nobody_up(play, node, other):
    call(play, other.address, 1, lane="fetch")
    call(play, other.address, 2)
    other.accept()
    quick = other.accept()
    other.hear(quick)

    quick.send(answer(2, b"quick"))

    assert come_back(play, node, 1) == [(2, b"quick")]


def test_where_nobody_listens_it_is_said_in_a_later_turn(play, node):
    with socket.create_server(("127.0.0.1", 0)) as door:
        nowhere = Address("127.0.0.1", door.getsockname()[1])
    call(play, nowhere, 7)
    assert node.answers == []

    assert come_back(play, node, 1) == [(7, f"{nowhere}: connection refused")]


def test_a_name_that_nobody_has_is_said_too(play, node):
    call(play, Address("no.such.host.invalid", 1), 7)

    ((token, reason),) = come_back(play, node, 1)
    assert token == 7
    assert "no.such.host.invalid:1: " in str(reason)


def test_when_one_is_late_all_that_wait_on_its_link_are_unanswered(play, node, other, clock):
    call(play, other.address, 1, ms=1000)
    call(play, other.address, 2, ms=9000)
    link = other.accept()
    other.hear(link)
    clock.time += 999
    play.turn()
    assert node.answers == []

    clock.time += 1

    late = f"{other.address}: no answer in time"
    assert come_back(play, node, 2) == [(1, late), (2, late)]
    call(play, other.address, 3)
    other.hear(other.accept())


def test_a_node_that_hangs_up_leaves_its_callers_unanswered(play, node, other):
    call(play, other.address, 1)
    link = other.accept()
    other.hear(link)
    link.send(answer(1, b"fine"))
    come_back(play, node, 1)
    call(play, other.address, 2)
    other.hear(link)

    link.close()

    assert come_back(play, node, 2)[1] == (2, f"{other.address}: it closed the connection")


@pytest.mark.parametrize("sent", [answer(9, b"what?"), SIZE.pack(2) + b"ab", SIZE.pack(-1)])
def test_an_answer_that_is_not_the_one_that_is_due_breaks_the_link(play, node, other, sent):
    call(play, other.address, 1)
    link = other.accept()
    other.hear(link)

    link.send(sent)

    ((token, reason),) = come_back(play, node, 1)
    assert token == 1
    assert isinstance(reason, str)


def test_what_does_not_fit_into_the_socket_goes_out_piece_by_piece(play, node, other):
    large = bytes(16 << 20)
    call(play, other.address, 1, large, ms=60_000)
    link = other.accept()

    assert len(other.hear(link)) == 4 + len(large)
    link.send(answer(1, b"thanks"))

    assert come_back(play, node, 1) == [(1, b"thanks")]
