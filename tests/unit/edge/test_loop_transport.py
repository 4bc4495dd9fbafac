from __future__ import annotations

import pytest

from andiron.edge import native
from andiron.edge.connection import UNANSWERED_MAX
from andiron.edge.loop_transport import LoopTransport
from edge.playground import Playground, framed

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


def test_half_a_frame_and_half_a_reply_go_with_the_connection():
    with Playground(threads=False) as play:
        client = play.connect(receive_buffer=4096)
        connection = play.host.connections.by_number[1]
        client.send(b"size:3000000")
        client.send_raw(framed(b"echo:after")[:7])
        play.turn(5)
        assert connection.backlog
        play.host.processors.adopt(connection)
        assert not isinstance(connection.transport, LoopTransport)
        client.send_raw(framed(b"echo:after")[7:])
        assert len(client.receive()) == 3_000_000
        assert client.receive() == b"after"


def test_frames_that_were_not_taken_go_with_it_both_ways():
    with Playground(threads=False) as play:
        client = play.connect()
        connection = play.host.connections.by_number[1]
        texts = [b"%d" % n for n in range(UNANSWERED_MAX + 10)]
        client.send(*(b"later:" + text for text in texts))
        play.turn_until(lambda: len(play.node.texts) == UNANSWERED_MAX)
        play.host.processors.adopt(connection)
        play.turn(3)
        play.host.processors.release(connection)
        play.turn_until(lambda: isinstance(connection.transport, LoopTransport))
        for text in texts:
            play.turn_until(lambda text=text: text in play.node._later)
            play.node.release(text)
            assert client.receive() == text


def test_a_muted_connection_stays_muted():
    with Playground(threads=False) as play:
        client = play.connect()
        connection = play.host.connections.by_number[1]
        connection.mute()
        play.host.processors.adopt(connection)
        client.send(b"echo:a")
        play.turn(3)
        play.host.processors.release(connection)
        play.turn(3)
        assert play.node.texts == []
