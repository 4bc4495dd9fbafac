from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from andiron.edge.disk import PosixDisk, PosixFile
from andiron.edge.host import CALM_MS, GRACE_MS, LEAVE_MS, CannotServe
from andiron.edge.listener import Listener
from andiron.model.awake import NAP_MS
from andiron.model.effects import Connected, Disconnected, Flushed, Woken
from andiron.model.ids import NEVER
from edge import playground
from edge.playground import TRANSPORTS, HandClock, Playground
from edge.scripted import ScriptedNode


@pytest.fixture(autouse=True, params=TRANSPORTS)
def transport(request, monkeypatch) -> str:
    """All of it by the loop, and all of it by network threads."""
    monkeypatch.setattr(playground, "by_threads", request.param == "threads")
    return request.param


@pytest.fixture
def file(tmp_path) -> PosixFile:
    made = PosixDisk().open(f"{tmp_path}/file")
    made.append(b"0123456789")
    return made


@pytest.fixture
def play(file) -> Iterator[Playground]:
    with Playground(file=file) as made:
        yield made


class Broken(PosixFile):
    """A file on a disk that fails."""

    def fd(self) -> int:
        raise OSError(5, "Input/output error")


def test_clients_are_let_in_once_the_node_is_ready(file):
    node = ScriptedNode(file)
    node.starting_flush = True
    with Playground(node=node) as play:
        assert node.ready
        assert node.events == [Flushed(0)]
        client = play.connect()
        client.send(b"echo:a")
        assert client.receive() == b"a"


def test_a_flush_is_carried_out_and_reported(play):
    client = play.connect()
    client.send(b"flush:synced", b"flush:synced too")
    assert [client.receive(), client.receive()] == [b"synced", b"synced too"]


def test_a_flush_that_fails_is_reported_with_the_reason(play):
    play.node.file = Broken(PosixDisk(), "gone", 0)
    client = play.connect()
    client.send(b"flush:synced")
    assert b"Input/output error" in client.receive()


def test_work_is_carried_out_and_reported(play):
    client = play.connect()
    client.send(b"work:loud")
    assert client.receive() == b"LOUD"


def test_a_node_is_woken_at_its_deadline_and_not_before():
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.deadline = clock.time + 100
        play.turn(2)
        assert Woken() not in play.node.events
        clock.time += 100
        play.turn()
        assert play.node.events == [Woken()]
        play.turn(2)
        assert play.node.events == [Woken()]


def test_a_poll_waits_no_longer_than_the_deadline():
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.deadline = clock.time + 7
        assert play.host._wait_s(play.node.deadline + 1000) == 0.007
        play.node.deadline = clock.time - 7
        assert play.host._wait_s(clock.time + 1000) == 0


def test_a_poll_that_waits_for_nothing_looks_at_the_clock_now_and_then():
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.deadline = NEVER
        assert play.host._wait_s(NEVER) == NAP_MS / 1_000


def test_a_node_that_was_away_reads_what_has_come_before_it_is_woken():
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.deadline = clock.time + 100
        play.turn()
        clock.time, clock.missed_ms = clock.time + 250, 3_000
        play.turn()
        assert play.node.events == []
        assert play.host._wait_s(NEVER) == 0, "it looks at once what else there is"
        play.turn()
        assert play.node.events == [Woken()]


def test_one_that_is_always_away_is_woken_all_the_same():
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.deadline = clock.time + 100
        for missed_ms in (3_000, 6_000, 9_000):
            clock.time, clock.missed_ms = clock.time + 250, missed_ms
            play.turn()
        assert Woken() in play.node.events


def test_a_deadline_that_is_overtaken_wakes_nobody():
    clock = HandClock()
    with Playground(clock=clock) as play:
        client = play.connect()
        play.node.deadline = clock.time + 100
        play.turn()
        clock.time += 100
        take = play.node.step

        def step(event, now):
            play.node.deadline = now + 1000
            return take(event, now)

        play.host._step = step
        client.send(b"echo:a")
        play.turn()
        assert Woken() not in play.node.events


def test_a_node_that_fails_when_woken_is_woken_less_often(caplog):
    clock = HandClock()
    with Playground(clock=clock) as play:
        play.node.fails_when_woken = True
        play.node.deadline = clock.time
        play.turn(20)
        assert play.host.failures == 1
        clock.time += CALM_MS
        play.turn(20)
        assert play.host.failures == 2


def test_a_node_that_fails_at_a_connection_loses_that_connection_only(play):
    first = play.connect()
    play.host._step = lambda event, now: [] if isinstance(event, Disconnected) else 1 // 0
    second = play.connect()
    assert second.is_hung_up()
    play.host._step = play.node.step
    first.send(b"echo:still here")
    assert first.receive() == b"still here"


def test_all_of_a_turn_happens_at_one_time():
    clock = HandClock()
    with Playground(clock=clock) as play:
        times = []
        take = play.node.step

        def step(event, now):
            times.append(now)
            clock.time += 1
            return take(event, now)

        client = play.connect()
        play.host._step = step
        client.send(b"echo:a", b"echo:b", b"echo:c")
        assert client.receive() == b"a"
        assert len(times) == 3 and len(set(times)) == 1


def test_replies_to_a_connection_that_is_gone_go_nowhere(play):
    client, other = play.connect(), play.connect()
    client.send(b"flush:a")
    play.turn_until(lambda: bool(play.node.texts))
    client.close()
    play.turn_until(lambda: Flushed(1) in play.node.events and len(play.host.connections) == 1)
    other.send(b"echo:b")
    assert other.receive() == b"b"


def test_who_connects_and_leaves_is_told_once_each(play):
    for _ in range(3):
        play.connect().close()
    play.turn_until(lambda: not play.host.connections)
    assert sorted(play.node.events) == sorted(
        [Connected(n, "PLAINTEXT", "127.0.0.1") for n in (1, 2, 3)] + [Disconnected(n) for n in (1, 2, 3)]
    )


# ── the end ──────────────────────────────────────────────────────────────────────────


def test_a_stop_answers_what_is_in_flight_and_stops_the_node(play):
    client = play.connect()
    client.send(b"flush:safe", b"size:30000")
    play.turn_until(lambda: len(play.node.texts) == 2)
    client.send(b"echo:too late")

    play.host.stop()
    play.host.run()
    assert play.node.stopped_at is not None
    client.link.setblocking(True)
    got = b""
    while piece := read(client.link):
        got += piece
    assert got == b"\0\0\0\4safe" + (30_000).to_bytes(4, "big") + bytes(30_000)


def read(link) -> bytes:
    try:
        return link.recv(1 << 20)
    except ConnectionResetError:
        return b""


def test_a_stop_does_not_wait_for_ever_for_a_reader_who_does_not_read():
    clock = HandClock()
    with Playground(clock=clock) as play:
        client = play.connect(receive_buffer=4096)
        client.send(b"size:10000000")
        play.turn_until(lambda: bool(play.node.texts))
        turn = play.host.turn

        def slow_turn(until):
            clock.time += 100
            turn(min(until, play.host.now + 1))

        play.host.turn = slow_turn
        play.host.stop()
        play.host.run()
        assert play.node.stopped_at is not None
        assert play.node.stopped_at <= 1_000_000 + GRACE_MS + 200


def test_a_stop_does_not_wait_for_requests_that_wait_for_something(play):
    client = play.connect()
    client.send(b"later:never")
    play.turn_until(lambda: bool(play.node.texts))
    play.host.stop()
    play.host.run()
    assert play.node.stopped_at is not None
    assert client.take() == b""


def test_a_node_that_never_became_ready_is_not_told_to_stop():
    node = ScriptedNode()
    play = Playground(node=node)
    node.ready = node.is_settled = False
    with play:
        play.host.stop()
        play.host.run()
    assert node.stopped_at is None


def test_a_stop_comes_before_a_start_is_done(file):
    node = ScriptedNode(file)
    with Playground(node=node) as play:
        node.ready = False
        node.starting_flush = True
        play.host.stop()
        play.host.start([])
        assert not node.ready


# ── a node among others ──────────────────────────────────────────────────────────────


class Shy(ScriptedNode):
    """A node that becomes ready when the test says so, and leaves when it has been asked often enough."""

    controller_listeners = ("CONTROLLER",)
    has_left = False

    def __init__(self, file=None):
        super().__init__(file)
        self.told = []

    def start(self, now):
        return []

    def leave(self, now):
        self.told.append("leave")
        self.deadline = now
        return []

    def _woken(self, now):
        self.has_left = "leave" in self.told
        return super()._woken(now)

    def resign(self, now):
        self.told.append("resign")
        return []

    def stop(self, now):
        self.told.append("stop")
        return super().stop(now)


def starting(node, clock, each_turn):
    """A host that starts its node, and what is done before each of its turns."""
    play = Playground(clock=clock)
    play.host._node, play.host._step = node, node.step
    doors = [Listener("PLAINTEXT", "127.0.0.1", 0), Listener("CONTROLLER", "127.0.0.1", 0)]
    turn = play.host.turn

    def turned(until):
        each_turn(play.host, *doors)
        turn(min(until, play.host.now + 1))

    play.host.turn = turned
    return play, doors


def is_open(door):
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", door.port)) == 0


def test_other_controllers_are_let_in_before_the_node_is_ready_and_clients_after():
    node, seen = Shy(), []

    def look(host, clients, controllers):
        seen.append((is_open(clients), is_open(controllers)))
        node.ready = len(seen) > 2

    play, doors = starting(node, HandClock(), look)
    with play:
        play.host.start(doors)
        assert seen == [(False, True)] * 3
        assert [is_open(door) for door in doors] == [True, True]


def test_a_node_that_its_cluster_will_not_have_says_why_when_its_patience_is_over():
    node, clock = Shy(), HandClock()
    node.trouble = "broker 1 is not taken in by its cluster: its id is taken"

    def later(host, *doors):
        clock.time += 10_000

    play, doors = starting(node, clock, later)
    with play, pytest.raises(CannotServe, match="its id is taken"):
        play.host.start(doors)
    assert clock.time >= 1_000_000 + node.patience_ms


def test_a_node_that_only_waits_for_others_waits_for_ever_and_says_for_what(caplog):
    node, clock = Shy(), HandClock()
    node.waits_for = "no majority of the controllers has elected a leader"

    def later(host, *doors):
        clock.time += 10_000
        if clock.time > 1_000_000 + 5 * node.patience_ms:
            node.ready = True

    play, doors = starting(node, clock, later)
    with play:
        play.host.start(doors)
    assert "no majority of the controllers" in caplog.text


def test_a_node_whose_metadata_log_fails_while_it_starts_does_not_wait():
    node = Shy()

    def fail(host, *doors):
        node.broken = "fsync failed"

    play, doors = starting(node, HandClock(), fail)
    with play, pytest.raises(CannotServe, match="fsync failed"):
        play.host.start(doors)


def test_a_node_whose_metadata_log_fails_ends_and_not_as_if_all_were_well(play):
    play.node.broken = "fsync failed"

    assert play.host.run() is False
    assert play.node.stopped_at is None


def test_a_node_leaves_and_resigns_before_it_stops():
    node = Shy()
    with Playground() as play:
        play.host._node, play.host._step = node, node.step
        play.host.stop()
        assert play.host.run()

    assert node.told == ["leave", "resign", "stop"]


def test_a_node_that_is_not_let_go_goes_all_the_same():
    node, clock = Shy(), HandClock()
    with Playground(clock=clock) as play:
        play.host._node, play.host._step = node, node.step
        node._woken = lambda now: []
        node.next_deadline = lambda: NEVER
        turn = play.host.turn

        def slow_turn(until):
            clock.time += 1_000
            turn(min(until, play.host.now + 1))

        play.host.turn = slow_turn
        play.host.stop()
        assert play.host.run()

    assert clock.time - 1_000_000 <= LEAVE_MS + 2_000
    assert node.told == ["leave", "resign", "stop"]
