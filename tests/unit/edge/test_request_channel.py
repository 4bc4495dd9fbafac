from __future__ import annotations

import pytest

from andiron.edge import native
from edge.playground import Playground

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


def test_a_seat_is_another_s_only_after_its_thread_has_confirmed():
    with Playground(threads=True, num_network_threads=1) as play:
        first, _ = play.connect(), play.connect()
        channel = play.host.processors.channel
        seat = play.host.connections.by_number[1].transport.seat
        first.send(b"echo:a")
        first.receive()
        play.host.connections.by_number[1].give_up("a test")
        assert seat in channel.seated
        assert play.connect() and play.host.connections.by_number[3].transport.seat != seat
        play.turn_until(lambda: seat not in channel.seated)
        play.connect()
        assert play.host.connections.by_number[4].transport.seat == seat


def test_one_that_is_closed_while_it_comes_back_is_closed():
    with Playground(threads=True) as play:
        client = play.connect()
        connection = play.host.connections.by_number[1]
        play.host.processors.release(connection)
        connection.give_up("a test")
        assert client.is_hung_up()
        play.turn_until(lambda: not play.host.processors.connections)


def test_what_waits_for_a_thread_does_not_keep_the_loop_awake():
    with Playground(threads=True) as play:
        client = play.connect()
        client.send(b"echo:a")
        assert client.receive() == b"a"
        play.turn(2)
        assert play.loop.poll(0) == []
