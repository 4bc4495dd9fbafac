from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator

import pytest

from andiron.edge.carrier import PIECE, SENDFILE_MIN, Carrier, Rest, SliceLost
from andiron.edge.disk import PosixDisk, PosixFile
from andiron.log.disk import FileSlice
from edge.sending import WAYS, tcp_pair
from edge.sending import carrier as carrier_of

CONTENT = bytes(range(256)) * (8 * PIECE // 256)
DATA_SEGMENTS_AT = 156  # in Linux's struct tcp_info


@pytest.fixture(params=WAYS)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    return carrier_of(request.param)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with tcp_pair() as made:
        yield made


@pytest.fixture
def file(tmp_path) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path}/file")
    made.append(b"0123456789")
    return made


@pytest.fixture
def large(tmp_path) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path}/large")
    made.append(CONTENT)
    return made


def received(link: socket.socket, count: int) -> bytes:
    return link.recv(count, socket.MSG_WAITALL)


def packets(link: socket.socket) -> int:
    """With data in them, so far."""
    told = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("I", told, DATA_SEGMENTS_AT)[0]


class TlsLink(socket.socket):
    """What makes other bytes of those that it is given, as ssl.SSLSocket does."""

    def send(self, data, flags=0):
        return super().send(bytes(each ^ 255 for each in data), flags)


# ── which way ────────────────────────────────────────────────────────────────────────


def test_a_large_slice_leaves_without_a_copy(pair, large):
    carrier = Carrier()
    taken, _ = carrier.carry(pair[0], [b"head", FileSlice(large, 100, SENDFILE_MIN)])
    assert carrier.sendfile_bytes == taken - 4 > 0
    assert received(pair[1], taken) == b"head" + CONTENT[100 : 96 + taken]


def test_a_small_slice_is_copied_along_with_its_neighbours(pair, large):
    carrier = Carrier()
    assert carrier.carry(pair[0], [b"ab", FileSlice(large, 1, 5000), b"cd"]) == (5004, True)
    assert carrier.sendfile_bytes == 0
    assert received(pair[1], 5004) == b"ab" + CONTENT[1:5001] + b"cd"


def test_a_slice_that_has_begun_to_leave_goes_on_until_a_piece_is_left(pair, large):
    carrier = Carrier()
    taken, _ = carrier.carry(pair[0], [Rest(large, 0, PIECE + 1), b"tail"])
    assert carrier.sendfile_bytes == taken > 0
    received(pair[1], taken)
    carrier.carry(pair[0], [Rest(large, 0, PIECE), b"tail"])
    assert carrier.sendfile_bytes == taken


def test_a_link_that_is_more_than_a_socket_is_copied_to(pair, large):
    carrier = Carrier()
    link = TlsLink(fileno=os.dup(pair[0].fileno()))
    taken, _ = carrier.carry(link, [FileSlice(large, 0, SENDFILE_MIN)])
    assert carrier.sendfile_bytes == 0
    assert received(pair[1], taken) == bytes(each ^ 255 for each in CONTENT[:taken])
    link.close()


def test_a_platform_without_sendfile_copies(pair, large, monkeypatch):
    monkeypatch.delattr(os, "sendfile")
    carrier = Carrier()
    for part in (FileSlice(large, 7, SENDFILE_MIN), Rest(large, 7, SENDFILE_MIN)):
        taken, _ = carrier.carry(pair[0], [part])
        assert received(pair[1], taken) == CONTENT[7 : 7 + taken]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOVERFLOW])
def test_a_file_that_the_system_does_not_send_is_copied(pair, large, monkeypatch, code):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "sendfile", refuse)
    carrier = Carrier()
    taken, _ = carrier.carry(pair[0], [b"head", FileSlice(large, 7, SENDFILE_MIN)])
    assert carrier.sendfile_bytes == 0
    assert received(pair[1], taken) == b"head" + CONTENT[7 : 3 + taken]


def test_a_disk_that_cannot_read_is_no_fault_of_the_client(pair, large, carrier, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "sendfile", fail)
    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(SliceLost, match="Input/output error"):
        carrier.carry(pair[0], [FileSlice(large, 0, SENDFILE_MIN)])


# ── pieces and packets ───────────────────────────────────────────────────────────────


def test_what_the_socket_took_is_counted(pair, carrier, file):
    assert carrier.carry(pair[0], [b"ab", memoryview(b"cd"), FileSlice(file, 1, 4)]) == (8, True)
    assert pair[1].recv(100) == b"abcd1234"


def test_a_socket_that_is_full_takes_nothing(pair, carrier, large):
    while carrier.carry(pair[0], [bytes(10_000)])[0]:
        pass
    assert carrier.carry(pair[0], [FileSlice(large, 0, SENDFILE_MIN)]) == (0, False)
    assert carrier.carry(pair[0], [b"head", FileSlice(large, 0, SENDFILE_MIN), b"tail"]) == (0, False)


def test_a_socket_takes_half_and_the_rest_later(pair, carrier, large):
    answer = b"head" + CONTENT[:SENDFILE_MIN] + b"tail"
    all_taken, counts = True, []
    while all_taken:
        count, all_taken = carrier.carry(pair[0], [b"head", FileSlice(large, 0, SENDFILE_MIN), b"tail"])
        counts.append(count)
    assert 4 < counts[-1] < len(answer)
    for count in counts:
        assert received(pair[1], count) == answer[:count]

    at = counts[-1] - 4
    assert carrier.carry(pair[0], [FileSlice(large, at, 100), b"tail"]) == (104, True)
    assert received(pair[1], 104) == CONTENT[at : at + 100] + b"tail"


def test_no_more_than_a_piece_is_taken(pair, carrier, large):
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * PIECE)
    assert carrier.carry(pair[0], [bytes(PIECE - 10), bytes(100)])[0] <= PIECE
    assert carrier.carry(pair[0], [FileSlice(large, 0, 8 * PIECE)])[0] <= PIECE
    many = [part for n in range(20) for part in (b"head", FileSlice(large, n, SENDFILE_MIN))]
    assert carrier.carry(pair[0], many)[0] <= 4 + PIECE


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell how many packets they sent")
def test_nothing_small_leaves_in_a_packet_of_its_own(carrier, large, monkeypatch):
    sendfile, before = os.sendfile, []

    def noting(*arguments):
        before.append(packets(ours))
        return sendfile(*arguments)

    monkeypatch.setattr(os, "sendfile", noting)
    with tcp_pair(segment=1000, buffer=16 * PIECE) as (ours, theirs):
        taken, whole = carrier.carry(ours, [b"size", b"head", FileSlice(large, 0, PIECE + 500)])
        assert whole
        assert not any(before), "what is before a slice waits for it"
        received(theirs, taken)
        so_far = packets(ours)
        assert carrier.carry(ours, [Rest(large, PIECE, 500), b"next"]) == (504, True)
        received(theirs, 504)
        assert packets(ours) == so_far + 1, "the end of a slice leaves with what follows it"


# ── slices that are lost ─────────────────────────────────────────────────────────────


def test_a_slice_of_a_file_that_was_closed_is_read_all_the_same(pair, carrier, file):
    file.close()
    carrier.carry(pair[0], [FileSlice(file, 3, 2)])
    assert pair[1].recv(100) == b"34"


def test_a_slice_that_was_truncated_is_lost(pair, carrier, file):
    piece = FileSlice(file, 5, 5)
    file.truncate(5)
    with pytest.raises(SliceLost, match="file has no 5 bytes at 5"):
        carrier.carry(pair[0], [piece])


def test_a_slice_of_a_file_that_is_gone_is_lost(pair, carrier, file):
    piece = FileSlice(file, 5, 5)
    file.close()
    os.remove(file.path)
    with pytest.raises(SliceLost, match="No such file"):
        carrier.carry(pair[0], [piece])


def test_of_half_a_slice_no_more_is_sent_than_there_is(pair, carrier, large):
    large.truncate(1000)
    position, got = 0, b""
    with pytest.raises(SliceLost):
        while True:
            parts = [FileSlice(large, position, SENDFILE_MIN - position), b"next frame"]
            count, whole = carrier.carry(pair[0], parts)
            assert not whole
            got += received(pair[1], count)
            position += count
    assert got in (b"", CONTENT[:1000])


def test_a_broken_socket_is_an_error_of_its_own(pair, carrier, large):
    pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    pair[1].close()
    with pytest.raises(ConnectionError):
        carrier.carry(pair[0], [b"head", FileSlice(large, 0, SENDFILE_MIN)])
