"""The law of the network threads: whatever they interleave, each connection's frames reach the node in order, and its
replies the client; and nothing is left behind.

Clients send requests in pieces of any size, read as slowly as they like, break off in the middle, and are moved between
loop and threads meanwhile; some of the replies are slices of a file, and some come late.
"""

from __future__ import annotations

import gc
import os
import random
import socket
import struct
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.edge import native
from andiron.edge.disk import PosixDisk, PosixFile
from andiron.model.effects import Disconnected
from edge.playground import Playground, framed

CONTENT = random.Random(0).randbytes(3 << 20)
SECONDS_MAX = 60

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path_factory.mktemp('edge')}/file")
    made.append(CONTENT)
    return made


class Talker:
    """A client with a script: what it asks, in which pieces, and what it must be answered."""

    def __init__(self, play: Playground, dice: random.Random, number: int, alike: bool) -> None:
        self.dice, self.number = dice, number
        small = dice.random() < 0.5
        self.link = play.connect(receive_buffer=dice.choice([0, 4096])).link
        self.id = play.host.connections.accepted
        self.stream, self.expected = b"", b""
        self.asked: list[str] = []
        for n in range(dice.randrange(1, 12)):
            request, answer = self._request(n, small, alike)
            self.asked.append(request[:40].decode(errors="replace"))
            self.stream += framed(request)
            self.expected += framed(answer)
        self.got = b""
        self.breaks_at = dice.randrange(len(self.stream) + 1) if dice.random() < 0.2 else -1
        self.sent = 0
        self.is_broken = False

    def _request(self, n: int, small: bool, alike: bool) -> tuple[bytes, bytes]:
        dice, mark = self.dice, b"%d.%d " % (self.number, n)
        kind = dice.choice(["echo", "echo", "stamp", "slice", "later"])
        if kind == "slice":
            length = dice.choice([dice.randrange(40_000), 1, dice.randrange(1 << 20)])
            at = dice.randrange(len(CONTENT) - length)
            return b"slice:%d:%d" % (at, length), b"<" + CONTENT[at : at + length] + b">"
        size = dice.randrange(200) if small else dice.choice([0, 100, 20_000, 70_000, 300_000, 900_000])
        text = mark + b"x" * dice.randrange(size + 1)
        if alike and size > 100_000:
            text = text.ljust(300_000 - len(kind), b"y")[: 300_000 - len(kind)]
        if kind == "stamp":
            return b"stamp:" + text, b"STAMP:" + text
        if kind == "later":
            return b"later:" + mark, mark
        return b"echo:" + text, text

    def go_on(self) -> None:
        """Send some, and read some."""
        if self.is_broken:
            return
        if self.sent < len(self.stream):
            self._send(self.dice.choice([1, 3, 100, 5_000, 1 << 20]))
        if not self.is_broken and self.dice.random() < 0.7:
            try:
                self.got += self.link.recv(self.dice.choice([10, 5_000, 1 << 20]))
            except BlockingIOError:
                return

    def _send(self, size: int) -> None:
        stop = self.breaks_at if self.sent <= self.breaks_at else len(self.stream)
        try:
            self.sent += self.link.send(self.stream[self.sent : min(self.sent + size, stop)])
        except BlockingIOError:
            return
        if self.sent == self.breaks_at:
            self.is_broken = True
            if self.dice.random() < 0.5:  # as a crash would
                self.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.link.close()

    @property
    def is_done(self) -> bool:
        return self.is_broken or len(self.got) >= len(self.expected)


class OrderedNode:
    """Keeps which connection each text came on."""

    def __init__(self, play: Playground) -> None:
        self.by_connection: dict[int, list[str]] = {}
        step = play.node.step

        def noted(event, now):
            if len(event) == 3 and type(event).__name__ == "Received":
                self.by_connection.setdefault(event.conn, []).append(
                    bytes(event.frame[:40]).decode(errors="replace")
                )
            return step(event, now)

        play.host._step = noted


def move(play: Playground, dice: random.Random) -> None:
    """Somebody changes places, or is not heard for a while."""
    connections = list(play.host.connections.by_number.values())
    if not connections:
        return
    connection = dice.choice(connections)
    match dice.randrange(4):
        case 0:
            play.host.processors.adopt(connection)
        case 1:
            play.host.processors.release(connection)
        case 2:
            connection.rest()
            connection.leave_room()
        case 3:
            play.change(num_network_threads=dice.choice([1, 2, 3]))
            play.host.processors.release_surplus()


def let_go(play: Playground, dice: random.Random) -> None:
    """Some of the late answers are given, in any order."""
    waiting = list(play.node._later)
    for text in dice.sample(waiting, min(len(waiting), dice.randrange(3))):
        play.node.release(text)


def open_descriptors() -> list[str]:
    """What this process has open, by name."""
    gc.collect()
    found = (os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd"))
    return sorted(os.readlink(each) for each in found if os.path.exists(each))


@settings(deadline=None, max_examples=int(os.environ.get("NETWORK_THREADS_EXAMPLES", "40")))
@given(st.integers(0, 1 << 32), st.booleans())
def test_frames_reach_the_node_in_order_and_replies_the_client(file, seed, begin_with_threads):
    dice = random.Random(seed)
    descriptors = open_descriptors()
    little_room = dice.random() < 0.5
    with Playground(
        file=file, threads=begin_with_threads, queued_max_request_bytes=1 if little_room else -1
    ) as play:
        node = OrderedNode(play)
        talkers = [Talker(play, dice, n, little_room) for n in range(dice.randrange(1, 6))]
        until = time.monotonic() + SECONDS_MAX
        while not all(each.is_done for each in talkers):
            assert time.monotonic() < until, "somebody waits for ever"
            dice.choice(talkers).go_on()
            for each in talkers:
                if each.sent == len(each.stream):
                    each.go_on()
            if dice.random() < 0.1:
                move(play, dice)
            let_go(play, dice)
            play.host.turn(play.host.now)

        assert play.host.failures == 0
        for each in talkers:
            heard = node.by_connection.get(each.id, [])
            if each.is_broken:
                assert heard == each.asked[: len(heard)]
                assert each.got == each.expected[: len(each.got)]
            else:
                assert heard == each.asked
                assert each.got == each.expected
                each.link.close()
        play.turn_until(lambda: not play.host.connections and not play.host.processors.connections)
        gone = [event.conn for event in play.node.events if isinstance(event, Disconnected)]
        assert sorted(gone) == sorted(each.id for each in talkers)
        assert play.host.room.taken == 0
        assert not play.host.room.waiting
    assert open_descriptors() == descriptors
