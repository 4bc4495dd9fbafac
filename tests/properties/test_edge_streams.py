"""Laws of the edge: frames come out as they went in, replies leave in order, whatever the pieces."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.edge.disk import PosixDisk, PosixFile
from andiron.edge.inbox import BadSize, Inbox
from andiron.edge.outbox import Outbox
from andiron.log.disk import FileSlice
from edge.playground import Playground
from edge.sending import WAYS, carrier, tcp_pair

CONTENT = bytes(range(256)) * 1600


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path_factory.mktemp('edge')}/file")
    made.append(CONTENT)
    return made


sizes = st.one_of(st.integers(0, 300), st.integers(10_000, 70_000))


@settings(deadline=None)
@given(st.lists(sizes, max_size=8), st.lists(st.integers(1, 40_000), max_size=20), st.booleans())
def test_frames_come_out_as_they_went_in(lengths, pieces, rests):
    bodies = [bytes([n % 251]) * length for n, length in enumerate(lengths)]
    stream = b"".join(struct.pack(">i", len(body)) + body for body in bodies)
    inbox, out, at = Inbox(1 << 20), [], 0
    piece_sizes = itertools.cycle([*pieces, 30_000])

    def recv_into(room: memoryview) -> int:
        nonlocal at
        assert len(room)
        piece = stream[at : at + min(len(room), next(piece_sizes))]
        room[: len(piece)] = piece
        at += len(piece)
        return len(piece)

    while inbox.receive(recv_into):
        while (frame := inbox.next_frame()) is not None:
            out.append(bytes(frame))
        if rests:
            inbox.rest()
    assert out == bodies


@given(st.binary(max_size=200))
def test_garbage_is_frames_or_a_bad_size(garbage):
    inbox = Inbox(100)
    inbox.receive(lambda room: room.__setitem__(slice(len(garbage)), garbage) or len(garbage))
    taken = 0
    try:
        while (frame := inbox.next_frame()) is not None:
            assert len(frame) <= 100
            taken += 4 + len(frame)
    except BadSize:
        pass
    assert taken <= len(garbage)


part = st.one_of(st.binary(max_size=50), st.tuples(st.integers(0, 999), st.integers(0, 400_000)))


@settings(deadline=None)
@given(
    st.lists(st.lists(part, max_size=4), min_size=1, max_size=5),
    st.sampled_from(sorted(WAYS)),
)
def test_what_goes_into_an_outbox_arrives(file, replies, way):
    with tcp_pair() as (ours, theirs):
        theirs.setblocking(False)
        outbox, expected = Outbox(ours, carrier(way)), b""
        for parts in replies:
            made = [each if isinstance(each, bytes) else FileSlice(file, *each) for each in parts]
            body = b"".join(
                each if isinstance(each, bytes) else CONTENT[each[0] : sum(each)] for each in parts
            )
            outbox.add(made)
            expected += struct.pack(">i", len(body)) + body
        got = b""
        while len(got) < len(expected):
            if outbox.backlog:
                outbox.send()
            try:
                while True:
                    got += theirs.recv(1 << 20)
            except BlockingIOError:
                pass
        assert got == expected


@settings(deadline=None, max_examples=30)
@given(st.permutations(list(range(8))), st.sets(st.integers(0, 7)))
def test_replies_leave_in_the_order_of_the_requests(order, at_once):
    with Playground() as play:
        client = play.connect()
        client.send(*(b"%s:%d" % (b"echo" if n in at_once else b"later", n) for n in range(8)))
        play.turn_until(lambda: len(play.node.texts) == 8)
        for n in order:
            if n not in at_once:
                play.node.release(b"%d" % n)
                play.turn()
        assert [client.receive() for _ in range(8)] == [b"%d" % n for n in range(8)]
