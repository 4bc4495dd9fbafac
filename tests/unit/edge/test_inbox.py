from __future__ import annotations

import struct

import pytest

from andiron.edge.inbox import BUSY, SMALL, BadSize, Inbox, NoRoom
from andiron.edge.room import Room


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class Stream:
    """A socket that has `data` to give, so many bytes a receive."""

    def __init__(self, data: bytes, at_once: int = 1 << 30) -> None:
        self.data, self.at_once = data, at_once

    def recv_into(self, room: memoryview) -> int:
        assert len(room), "a receive into no room looks like the end of the stream"
        piece = self.data[: min(self.at_once, len(room))]
        self.data = self.data[len(piece) :]
        room[: len(piece)] = piece
        return len(piece)


def frames(inbox: Inbox, stream: Stream) -> list[bytes]:
    """All that comes out when all of the stream has gone in."""
    out = []
    while inbox.receive(stream.recv_into):
        while (frame := inbox.next_frame()) is not None:
            out.append(bytes(frame))
    return out


def test_frames_come_out_as_they_went_in():
    bodies = [b"", b"a", b"b" * 300, b"c" * 20_000, b"d"]
    stream = Stream(b"".join(map(framed, bodies)))
    assert frames(Inbox(1 << 20), stream) == bodies


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 1000])
def test_frames_may_arrive_in_any_pieces(at_once):
    bodies = [b"first", b"", b"x" * 2_500, b"last"]
    stream = Stream(b"".join(map(framed, bodies)), at_once)
    assert frames(Inbox(1 << 20), stream) == bodies


def test_half_a_frame_is_none():
    inbox = Inbox(1 << 20)
    inbox.receive(Stream(framed(b"hello")[:-1]).recv_into)
    assert inbox.next_frame() is None
    inbox.receive(Stream(b"o").recv_into)
    assert bytes(inbox.next_frame() or b"") == b"hello"


def test_a_frame_is_writable_in_place():
    inbox = Inbox(1 << 20)
    inbox.receive(Stream(framed(b"hello")).recv_into)
    frame = inbox.next_frame()
    assert frame is not None
    frame[0] = ord("j")
    assert bytes(frame) == b"jello"


def test_the_buffer_grows_to_the_frame_and_little_more():
    inbox = Inbox(1 << 30)
    size = 3_000_000
    assert frames(inbox, Stream(framed(bytes(size)))) == [bytes(size)]
    assert size < inbox.capacity < size * 1.01


def test_a_claim_without_bytes_gets_no_memory():
    inbox = Inbox(1 << 30)
    stream = Stream(struct.pack(">i", 100_000_000) + bytes(100), at_once=10)
    assert frames(inbox, stream) == []
    assert inbox.capacity == SMALL


def test_memory_follows_what_has_arrived():
    inbox = Inbox(1 << 30)
    frames(inbox, Stream(struct.pack(">i", 100_000_000) + bytes(1_000_000)))
    assert inbox.capacity <= 4 * 1_000_004 + SMALL


def test_a_large_buffer_is_given_back_after_a_rest():
    inbox = Inbox(1 << 30)
    frames(inbox, Stream(framed(bytes(1_000_000))))

    inbox.rest()
    assert inbox.capacity > 1_000_000, "it was used since the last rest"
    inbox.rest()
    assert inbox.capacity == SMALL
    assert frames(inbox, Stream(framed(b"still works"))) == [b"still works"]


def test_a_frame_under_way_survives_a_rest():
    inbox = Inbox(1 << 30)
    whole = framed(bytes(range(256)) * 4_000)
    frames(inbox, Stream(whole[:500_000]))
    inbox.rest()
    inbox.rest()
    assert frames(inbox, Stream(whole[500_000:])) == [whole[4:]]


def test_views_of_an_old_buffer_stay_good():
    inbox = Inbox(1 << 30)
    inbox.receive(Stream(framed(b"kept")).recv_into)
    kept = inbox.next_frame()
    frames(inbox, Stream(framed(bytes(100_000))))
    assert kept is not None and len(kept) == 4


@pytest.mark.parametrize("size", [-1, -(1 << 31), 1001, (1 << 31) - 1])
def test_a_size_out_of_bounds_is_refused(size):
    inbox = Inbox(1000)
    inbox.receive(Stream(struct.pack(">i", size) + b"GET / HTTP/1.1").recv_into)
    with pytest.raises(BadSize, match=str(size)):
        inbox.next_frame()


def test_the_largest_size_allowed_is_taken():
    assert frames(Inbox(1000), Stream(framed(bytes(1000)))) == [bytes(1000)]


def test_a_connection_that_fills_its_buffer_gets_a_larger_one():
    inbox, stream = Inbox(1 << 20), Stream(framed(b"x" * 1_000) * 2_000)
    assert frames(inbox, stream) == [b"x" * 1_000] * 2_000
    assert inbox.capacity == BUSY


def test_a_connection_that_says_little_keeps_its_small_one():
    inbox = Inbox(1 << 20)
    frames(inbox, Stream(framed(b"x" * 1_000) * 2_000, at_once=2_000))
    assert inbox.capacity == SMALL


def test_a_busy_connection_keeps_its_buffer_until_it_has_rested():
    inbox = Inbox(1 << 20)
    frames(inbox, Stream(framed(b"x" * 1_000) * 2_000))
    inbox.rest()
    assert inbox.capacity == BUSY
    inbox.rest()
    assert inbox.capacity == SMALL


def test_a_large_frame_needs_room_for_all_of_it_before_it_is_read_on():
    room = Room(lambda: BUSY)
    first, second = Inbox(1 << 30, room), Inbox(1 << 30, room)
    large = framed(bytes(4 * BUSY))
    held = Stream(large[:-1], at_once=BUSY)
    while first.receive(held.recv_into):
        pass

    assert room.taken == first.granted == len(large)
    with pytest.raises(NoRoom):
        frames(second, Stream(large))

    first.receive(Stream(large[-1:]).recv_into)
    assert first.next_frame() is not None
    first.leave_room()
    assert (room.taken, first.granted, first.capacity) == (0, 0, BUSY)


def test_a_frame_that_has_begun_keeps_its_room_until_the_end():
    room = Room(lambda: BUSY)
    inbox = Inbox(1 << 30, room)
    stream = Stream(framed(bytes(4 * BUSY))[:-1])
    while inbox.receive(stream.recv_into):
        pass

    inbox.leave_room()
    assert room.taken
    inbox.close()
    assert not room.taken
