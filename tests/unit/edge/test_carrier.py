from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from andiron.edge.carrier import PIECE, Carrier, CopyCarrier, SendfileCarrier, SliceLost
from andiron.edge.disk import PosixDisk, PosixFile
from andiron.log.disk import FileSlice


@pytest.fixture(params=[CopyCarrier, SendfileCarrier])
def carrier(request: pytest.FixtureRequest) -> Carrier:
    return request.param()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def file(tmp_path) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path}/file")
    made.append(b"0123456789")
    return made


def test_what_the_socket_took_is_counted(pair, carrier, file):
    assert carrier.carry(pair[0], [b"ab", memoryview(b"cd"), FileSlice(file, 1, 4)]) == 8
    assert pair[1].recv(100) == b"abcd1234"


def test_a_socket_that_is_full_takes_nothing(pair, carrier, file):
    while carrier.carry(pair[0], [bytes(10_000)]):
        pass
    assert carrier.carry(pair[0], [FileSlice(file, 0, 5)]) == 0


def test_no_more_than_a_piece_is_taken(pair, carrier):
    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * PIECE)
    assert carrier.carry(pair[0], [bytes(PIECE - 10), bytes(100)]) <= PIECE


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


def test_half_a_slice_is_lost_to_the_copying_carrier(pair, file):
    piece = FileSlice(file, 5, 5)
    file.truncate(7)
    with pytest.raises(SliceLost):
        CopyCarrier().carry(pair[0], [piece])


def test_a_broken_socket_is_an_error_of_its_own(pair, carrier, file):
    pair[1].close()
    with pytest.raises(OSError, match="Broken pipe"):
        carrier.carry(pair[0], [FileSlice(file, 0, 5)])
