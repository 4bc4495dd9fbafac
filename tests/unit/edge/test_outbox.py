from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from andiron.edge.carrier import PIECE, Carrier
from andiron.edge.disk import PosixDisk
from andiron.edge.outbox import Outbox
from andiron.log.disk import FileSlice
from edge.sending import WAYS, tcp_pair
from edge.sending import carrier as carrier_of


@pytest.fixture(params=WAYS)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    return carrier_of(request.param)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with tcp_pair() as (ours, theirs):
        theirs.setblocking(False)
        yield ours, theirs


def taken(link: socket.socket) -> bytes:
    parts = []
    while True:
        try:
            parts.append(link.recv(1 << 20))
        except BlockingIOError:
            return b"".join(parts)


def sent(outbox: Outbox, link: socket.socket) -> bytes:
    """All that arrives until the outbox is empty."""
    parts = []
    while outbox.backlog:
        outbox.send()
        parts.append(taken(link))
    return b"".join(parts)


def test_replies_leave_together_each_after_its_size(pair, carrier):
    outbox = Outbox(pair[0], carrier)
    outbox.add([b"one"])
    outbox.add([b"t", b"", b"wo"])
    outbox.add([])
    assert outbox.backlog == 7 + 7 + 4

    assert outbox.send() is True
    assert taken(pair[1]) == b"\0\0\0\3one\0\0\0\3two\0\0\0\0"
    assert outbox.backlog == 0


def test_slices_are_sent_between_the_bytes_around_them(pair, carrier, tmp_path):
    file = PosixDisk().open(f"{tmp_path}/file")
    file.append(b"0123456789")
    outbox = Outbox(pair[0], carrier)
    outbox.add([b"<", FileSlice(file, 2, 3), b"|", FileSlice(file, 0, 0), FileSlice(file, 9, 1), b">"])

    assert outbox.send() is True
    assert taken(pair[1]) == b"\0\0\0\7<234|9>"


def test_a_socket_that_takes_no_more_gets_the_rest_later(pair, carrier, tmp_path):
    file = PosixDisk().open(f"{tmp_path}/file")
    content = bytes(range(256)) * 8_000
    file.append(content)
    outbox = Outbox(pair[0], carrier)
    outbox.add([b"head", FileSlice(file, 0, len(content)), b"tail"])

    while outbox.send():
        pass
    assert 0 < outbox.backlog < len(content)
    body = taken(pair[1]) + sent(outbox, pair[1])
    assert body[4:] == b"head" + content + b"tail"


def test_bytes_that_do_not_fit_leave_later_too(pair, carrier):
    outbox = Outbox(pair[0], carrier)
    bodies = [bytes([n]) * 100_000 for n in range(20)]
    for body in bodies:
        outbox.add([body])

    got = sent(outbox, pair[1])
    assert got == b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


def test_small_replies_that_do_not_fit_leave_later_too(pair, carrier):
    outbox = Outbox(pair[0], carrier)
    got = b""
    for _ in range(100):
        outbox.add([bytes(10_000)])
        outbox.send()
    got = taken(pair[1])
    while outbox.backlog:
        outbox.send()
        got += taken(pair[1])
    assert got == (b"\0\0\x27\x10" + bytes(10_000)) * 100


def test_one_send_is_one_piece_at_most(pair, carrier, tmp_path):
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * PIECE)
    file = PosixDisk().open(f"{tmp_path}/file")
    file.append(bytes(3 * PIECE))
    outbox = Outbox(pair[0], carrier)
    outbox.add([FileSlice(file, 0, 3 * PIECE)])

    outbox.send()
    assert len(taken(pair[1])) <= PIECE + 4
    assert outbox.backlog >= 4
