from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from andiron.edge.carrier import PIECE
from andiron.edge.connection import (
    BACKLOG_MAX,
    FRAMES_MAX,
    UNANSWERED_BYTES_MAX,
    UNANSWERED_MAX,
    Connection,
)
from andiron.edge.connections import SWEEP_MS_MAX
from andiron.edge.disk import PosixDisk, PosixFile
from andiron.edge.host import TURN_S
from andiron.edge.room import LATE_MS
from andiron.model.effects import Disconnected
from edge import playground
from edge.playground import TRANSPORTS, HandClock, Playground, framed


@pytest.fixture(autouse=True, params=TRANSPORTS)
def transport(request, monkeypatch) -> str:
    """All of it by the loop, and all of it by network threads."""
    monkeypatch.setattr(playground, "by_threads", request.param == "threads")
    return request.param


@pytest.fixture
def file(tmp_path) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path}/file")
    made.append(bytes(range(256)) * (16 * PIECE // 256))
    return made


@pytest.fixture
def play(file) -> Iterator[Playground]:
    with Playground(file=file) as made:
        yield made


def only(play: Playground) -> Connection:
    (connection,) = play.host.connections.by_number.values()
    return connection


def reset(link: socket.socket) -> None:
    """Close as a crash would."""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


# ── requests and replies ─────────────────────────────────────────────────────────────


def test_a_request_is_answered(play):
    client = play.connect()
    client.send(b"echo:hello")
    assert client.receive() == b"hello"


def test_pipelined_requests_are_answered_in_their_order(play):
    client = play.connect()
    client.send(*(b"echo:%d" % n for n in range(500)))
    assert [client.receive() for _ in range(500)] == [b"%d" % n for n in range(500)]


def test_a_request_may_arrive_byte_by_byte(play):
    client = play.connect()
    for byte in b"\0\0\0\7echo:ab":
        client.send_raw(bytes([byte]))
        play.turn()
    assert client.receive() == b"ab"


def test_replies_given_out_of_order_leave_in_order(play):
    client = play.connect()
    client.send(b"later:a", b"later:b", b"echo:c", b"later:d")
    play.turn_until(lambda: len(play.node.texts) == 4)

    play.node.release(b"d")
    play.node.release(b"b")
    play.turn(2)
    assert client.take() is None
    play.node.release(b"a")
    assert [client.receive() for _ in range(4)] == [b"a", b"b", b"c", b"d"]


def test_a_request_that_wants_no_answer_gets_none_and_holds_up_nobody(play):
    client = play.connect()
    client.send(b"silent:", b"later:x", b"silent:", b"echo:y")
    play.turn_until(lambda: len(play.node.texts) == 4)
    play.node.release(b"x")
    assert [client.receive(), client.receive()] == [b"x", b"y"]


def test_a_node_may_write_into_the_frame(play):
    client = play.connect()
    client.send(b"stamp:1", b"stamp:2")
    assert [client.receive(), client.receive()] == [b"STAMP:1", b"STAMP:2"]


def test_a_large_request_arrives_whole(play):
    client = play.connect()
    text = b"echo:" + bytes(range(256)) * 20_000
    client.send(text, b"echo:after")
    assert client.receive() == text[5:]
    assert client.receive() == b"after"


# ── limits ───────────────────────────────────────────────────────────────────────────


class TickingClock:
    """A millisecond passes whenever it is looked at."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 0.001
        return self.time


def test_a_turn_gives_all_who_have_requests_an_equal_share_of_its_time(play, transport):
    if transport == "threads":
        pytest.skip("what has come from threads before a turn is not for a test to say")
    play.host.meter.clock = TickingClock()
    clients, neighbour = [play.connect() for _ in range(5)], play.connect()
    for number, client in enumerate(clients):
        client.send(*[b"echo:%d" % number] * FRAMES_MAX)
    neighbour.send(b"echo:ping")

    play.turn()

    share = round(TURN_S * 1000) // 6 + 1  # a frame at least, and as many as fit
    assert play.node.texts.count("echo:ping") == 1
    assert [play.node.texts.count(f"echo:{number}") for number in range(5)] == [share] * 5
    assert [clients[0].receive() for _ in range(FRAMES_MAX)] == [b"0"] * FRAMES_MAX


def test_a_turn_takes_only_so_many_frames_of_one_connection(play):
    play.host.meter.clock = lambda: 0.0
    client = play.connect()
    client.send(*[b"echo:%d" % n for n in range(FRAMES_MAX * 2 + 1)])
    play.turn_until(lambda: bool(play.node.texts))
    assert len(play.node.texts) == FRAMES_MAX
    play.turn()
    assert len(play.node.texts) == FRAMES_MAX * 2
    play.turn()
    assert len(play.node.texts) == FRAMES_MAX * 2 + 1


def test_a_flooding_connection_does_not_starve_another(play):
    flood, quiet = play.connect(), play.connect()
    flood.send_raw(b"\0\0\0\x07silent:" * 20_000)
    quiet.send(b"echo:here")
    assert quiet.receive() == b"here"
    assert len(play.node.texts) <= 20 * FRAMES_MAX + 1


def test_too_many_unanswered_requests_stop_the_reading(play):
    client = play.connect()
    client.send(*[b"later:%d" % n for n in range(UNANSWERED_MAX + 10)])
    play.turn(5)
    assert len(play.node.texts) == UNANSWERED_MAX

    for n in range(UNANSWERED_MAX):
        play.node.release(b"%d" % n)
    assert [client.receive() for _ in range(UNANSWERED_MAX)] == [b"%d" % n for n in range(UNANSWERED_MAX)]
    play.turn_until(lambda: len(play.node.texts) == UNANSWERED_MAX + 10)


def test_a_stalled_connection_does_not_keep_the_loop_awake(play):
    client = play.connect()
    client.send(*[b"later:%d" % n for n in range(UNANSWERED_MAX)])
    play.turn_until(lambda: len(play.node.texts) == UNANSWERED_MAX)
    client.send(b"echo:more", b"echo:and more")
    play.turn(3)
    assert play.loop.poll(0) == []


def test_a_stalled_connection_that_breaks_is_dropped(play):
    client = play.connect()
    client.send(*[b"later:%d" % n for n in range(UNANSWERED_MAX + 1)])
    play.turn(3)
    reset(client.link)
    play.turn_until(lambda: not play.host.connections)
    assert play.node.events[-1] == Disconnected(1)


def test_a_reader_who_does_not_read_is_not_read_from(play):
    client = play.connect(receive_buffer=4096)
    client.send(*[b"size:100000"] * 60)
    play.turn(80)
    handled, backlog = len(play.node.texts), only(play).backlog
    assert handled < 60
    assert backlog <= BACKLOG_MAX + 100_004

    play.turn(20)
    assert len(play.node.texts) == handled, "nothing happens until the reader reads"
    assert [len(client.receive()) for _ in range(60)] == [100_000] * 60


def test_a_reply_of_many_pieces_lets_others_in_between(play, transport):
    if transport == "threads":
        pytest.skip("what a thread has sent meanwhile is not for a test to know: test_processors.py")
    reader, other = play.connect(), play.connect()
    reader.link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * PIECE)
    reader.send(b"slice:0:%d" % (8 * PIECE))
    play.turn()
    assert only_with_backlog(play).backlog > 4 * PIECE
    other.send(b"echo:quick")
    play.turn()
    assert other.take() == b"\0\0\0\5quick"
    assert only_with_backlog(play).backlog > 2 * PIECE
    assert len(reader.receive()) == 8 * PIECE + 2


def only_with_backlog(play: Playground) -> Connection:
    (connection,) = [each for each in play.host.connections.by_number.values() if each.backlog]
    return connection


def test_large_slices_reach_a_slow_reader_unharmed(play, file):
    client = play.connect(receive_buffer=4096)
    client.send(*[b"slice:%d:%d" % (n * 1000, 6 * PIECE + n) for n in range(4)])
    for n in range(4):
        assert client.receive() == b"<" + file.read(n * 1000, 6 * PIECE + n) + b">"


# ── the end ──────────────────────────────────────────────────────────────────────────


def test_a_client_that_leaves_is_forgotten(play):
    client = play.connect()
    client.send(b"later:a")
    play.turn_until(lambda: play.node.texts == ["later:a"])
    client.close()
    play.turn_until(lambda: not play.host.connections)
    assert play.node.events[-1] == Disconnected(1)


def test_requests_sent_before_leaving_are_taken(play):
    client = play.connect()
    client.send(b"silent:1", b"silent:2")
    client.close()
    play.turn_until(lambda: not play.host.connections)
    assert play.node.texts == ["silent:1", "silent:2"]


def test_a_node_may_hang_up_after_what_it_owes(play):
    client = play.connect()
    client.send(b"echo:last words", b"close:enough", b"echo:too late")
    assert client.receive() == b"last words"
    assert client.is_hung_up()
    assert play.node.texts == ["echo:last words", "close:enough"]
    assert play.node.events[-1] == Disconnected(1)


def test_a_large_reply_is_sent_whole_before_hanging_up(play, file):
    client = play.connect(receive_buffer=4096)
    client.send(b"slice:0:%d" % (5 * PIECE), b"close:done")
    assert client.receive() == b"<" + file.read(0, 5 * PIECE) + b">"
    assert client.is_hung_up()


def test_replies_after_hanging_up_are_not_sent(play):
    client = play.connect()
    client.send(b"later:a", b"close:now")
    play.turn_until(lambda: len(play.node.texts) == 2)
    play.node.release(b"a") if b"a" in play.node._later else None
    assert client.is_hung_up()


@pytest.mark.parametrize(
    "garbage",
    [
        struct.pack(">i", -1),
        struct.pack(">i", (100 << 20) + 1),
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_a_bad_size_closes_the_connection_with_a_reason(play, garbage, caplog):
    caplog.set_level("INFO")
    client = play.connect()
    client.send_raw(garbage)
    assert client.is_hung_up()
    assert "request" in caplog.text and "127.0.0.1" in caplog.text
    assert play.node.events[-1] == Disconnected(1)


def test_what_came_before_a_bad_size_is_answered(play):
    client = play.connect()
    client.send_raw(b"\0\0\0\6echo:a" + b"\xff\xff\xff\xff")
    assert client.receive() == b"a"
    assert client.is_hung_up()


def test_a_step_that_raises_costs_its_connection_only(play, caplog):
    other, client = play.connect(), play.connect()
    client.send(b"echo:before", b"boom:", b"echo:after")
    assert client.receive() == b"before"
    assert client.is_hung_up()
    assert play.host.failures == 1
    assert "a planted bug" in caplog.text
    other.send(b"echo:still here")
    assert other.receive() == b"still here"


def test_a_reply_that_cannot_be_sent_costs_its_connection_only(play):
    other, client = play.connect(), play.connect()
    client.send(b"wrong:")
    assert client.is_hung_up()
    other.send(b"echo:still here")
    assert other.receive() == b"still here"


def test_a_ticket_answered_twice_is_a_bug_of_the_node(play):
    client = play.connect()
    client.send(b"twice:a")
    assert client.receive() == b"a"
    assert client.is_hung_up()
    assert play.host.failures == 1


def test_a_slice_that_is_lost_closes_the_connection_with_a_reason(play, file, caplog):
    caplog.set_level("INFO")
    client = play.connect(receive_buffer=4096)
    client.send(b"slice:0:%d" % (12 * PIECE))
    play.turn(3)
    file.truncate(PIECE)
    got: Any = b"x"
    while got != b"":
        got = client.take()
        play.turn()
    assert "bytes at" in caplog.text


def test_a_client_that_breaks_off_in_the_middle_of_a_reply_is_dropped(play):
    client = play.connect(receive_buffer=4096)
    client.send(b"slice:0:%d" % (12 * PIECE))
    play.turn(3)
    reset(client.link)
    play.turn_until(lambda: not play.host.connections)
    assert play.node.events[-1] == Disconnected(1)


def test_a_muted_connection_is_answered_and_not_heard(play):
    client = play.connect()
    client.send(b"later:a")
    play.turn_until(lambda: play.node.texts == ["later:a"])
    only(play).mute()
    client.send(b"echo:b")
    play.node.release(b"a")
    assert client.receive() == b"a"
    play.turn(3)
    assert play.node.texts == ["later:a"]


# ── room for large requests ──────────────────────────────────────────────────────────


LARGE = b"echo:" + bytes(1 << 20)


def begun(play: Playground, request: bytes = LARGE) -> Any:
    """A client that has sent all of a large request but for its last byte."""
    client = play.connect()
    client.send_raw(framed(request)[:-1])
    return client


def test_unfinished_requests_hold_only_so_much_and_others_are_read_when_they_are_done():
    with Playground(queued_max_request_bytes=2 << 20) as play:
        first, second, third = begun(play), begun(play), begun(play)
        play.turn(20)
        held, waiting = play.host.room.taken, len(play.host.room.waiting)
        assert (held < 3 << 20, waiting) == (True, 1)

        small = play.connect()
        small.send(b"echo:small")
        assert small.receive() == b"small"

        for client in (first, second, third):
            client.send_raw(b"\0")
            assert client.receive() == LARGE[5:]


def test_who_claims_room_and_does_not_use_it_is_closed_when_others_wait():
    clock = HandClock()
    with Playground(clock=clock, queued_max_request_bytes=1) as play:
        idle = begun(play)
        play.turn(20)
        waiting = begun(play)
        play.turn(20)
        assert play.host.room.waiting

        clock.time += LATE_MS + SWEEP_MS_MAX
        assert idle.is_hung_up()

        waiting.send_raw(b"\0")
        assert waiting.receive() == LARGE[5:]


def test_a_connection_that_is_closed_leaves_its_room():
    with Playground(queued_max_request_bytes=1) as play:
        begun(play).close()
        play.turn_until(lambda: not len(play.host.connections))
        assert play.host.room.taken == 0


def test_only_so_many_bytes_of_requests_are_unanswered(play):
    play.host.meter.clock = lambda: 0.0
    client = play.connect()
    enough = UNANSWERED_BYTES_MAX // len(LARGE) + 1
    client.send(*[b"later:%03d" % n + LARGE for n in range(enough + 1)])
    play.turn(200)

    assert len(play.node.texts) == enough
