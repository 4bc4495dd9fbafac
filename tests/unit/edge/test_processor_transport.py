from __future__ import annotations

import os

import pytest

from andiron.edge import native
from andiron.edge.disk import PosixDisk
from andiron.edge.processor_transport import SMALL_SLICE, WINDOW
from edge.playground import Playground

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


@pytest.fixture
def file(tmp_path):
    made = PosixDisk().open(f"{tmp_path}/file")
    made.append(bytes(range(256)) * (4 * WINDOW // 256))
    return made


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_reader_who_does_not_read_costs_only_so_many_descriptors(file):
    with Playground(file=file, threads=True) as play:
        client = play.connect(receive_buffer=4096)
        before = descriptors()
        client.send(*[b"slice:0:%d" % (SMALL_SLICE + 1)] * 60, b"slice:0:%d" % WINDOW)
        play.turn(50)
        assert descriptors() - before <= WINDOW // SMALL_SLICE
        for _ in range(60):
            assert client.receive() == b"<" + file.read(0, SMALL_SLICE + 1) + b">"
        assert len(client.receive()) == WINDOW + 2
        play.turn_until(lambda: descriptors() == before)


def test_without_descriptors_slices_are_read_here(file):
    with Playground(file=file, threads=True) as play:
        client = play.connect()
        transport = play.host.connections.by_number[1].transport
        real = transport._channel

        class Exhausted:
            def __getattr__(self, name):
                return getattr(real, name)

            def put(self, seat, parts):
                if isinstance(parts[0], tuple):
                    raise OSError(24, "Too many open files")
                real.put(seat, parts)

        transport._channel = Exhausted()
        client.send(b"slice:0:100000")
        assert client.receive() == b"<" + file.read(0, 100_000) + b">"


def test_small_slices_of_a_file_that_is_shorter_close_the_connection(file, caplog):
    caplog.set_level("INFO")
    with Playground(file=file, threads=True) as play:
        client = play.connect()
        client.send(b"slice:%d:100" % (file.size - 50))
        assert client.is_hung_up()
    assert "bytes at" in caplog.text


def test_replies_that_come_while_it_moves_leave_by_the_loop_in_order():
    with Playground(threads=True) as play:
        client = play.connect()
        connection = play.host.connections.by_number[1]
        client.send(b"later:a", b"later:b")
        play.turn_until(lambda: len(play.node.texts) == 2)
        play.host.processors.release(connection)
        play.node.release(b"b")
        play.node.release(b"a")
        assert [client.receive(), client.receive()] == [b"a", b"b"]
        assert play.host.processors.connections == 0
        client.send(b"echo:c")
        assert client.receive() == b"c"
