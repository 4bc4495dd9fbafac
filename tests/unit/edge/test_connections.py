from __future__ import annotations

import pytest

from andiron.edge.connections import SWEEP_MS_MAX
from andiron.model.effects import Connected, Disconnected
from edge import playground
from edge.playground import TRANSPORTS, HandClock, Playground
from edge.scripted import ScriptedNode


@pytest.fixture(autouse=True, params=TRANSPORTS)
def transport(request, monkeypatch) -> str:
    """All of it by the loop, and all of it by network threads."""
    monkeypatch.setattr(playground, "by_threads", request.param == "threads")
    return request.param


def test_a_connection_is_announced_with_its_listener_and_address():
    with Playground() as play:
        play.connect()
        play.connect()
        assert play.node.events == [
            Connected(1, "PLAINTEXT", "127.0.0.1"),
            Connected(2, "PLAINTEXT", "127.0.0.1"),
        ]


def test_a_connection_idle_for_too_long_is_closed():
    clock = HandClock()
    with Playground(clock=clock, connections_max_idle_ms=60_000) as play:
        client = play.connect()
        clock.time += 59_999
        play.turn(2)
        assert len(play.host.connections) == 1

        clock.time += SWEEP_MS_MAX
        play.turn(2)
        assert len(play.host.connections) == 0
        assert client.is_hung_up()
        assert play.node.events[-1] == Disconnected(1)


def test_a_connection_in_use_is_not_idle():
    clock = HandClock()
    with Playground(clock=clock, connections_max_idle_ms=60_000) as play:
        client = play.connect()
        for _ in range(5):
            clock.time += 50_000
            client.send(b"echo:alive")
            assert client.receive() == b"alive"


def test_a_slow_reader_who_goes_on_reading_is_not_idle():
    clock = HandClock()
    with Playground(clock=clock, connections_max_idle_ms=60_000) as play:
        client = play.connect(receive_buffer=100_000)
        client.send(b"size:%d" % (8 << 20))
        missing = (8 << 20) + 4
        while missing:
            clock.time += 5_000  # a turn sends 256 KB at most, so this takes far longer than a minute
            play.turn()
            piece = client.take()
            assert piece != b"", "it was taken for idle"
            missing -= len(piece or b"")


def test_a_reader_who_stops_reading_becomes_idle():
    clock = HandClock()
    with Playground(clock=clock, connections_max_idle_ms=60_000) as play:
        client = play.connect(receive_buffer=4096)
        client.send(b"size:%d" % (8 << 20))
        play.turn(40)
        clock.time += SWEEP_MS_MAX
        play.turn(2)
        clock.time += 70_000
        play.turn(2)
        assert len(play.host.connections) == 0


def test_without_a_limit_nobody_is_idle():
    clock = HandClock()
    with Playground(clock=clock, connections_max_idle_ms=-1) as play:
        play.connect()
        clock.time += 10**9
        play.turn(2)
        assert len(play.host.connections) == 1


def test_too_many_connections_from_one_address_are_closed():
    with Playground(max_connections_per_ip=2) as play:
        first, second, third = play.connect(), play.connect(), play.connect()
        assert third.is_hung_up()
        assert play.host.connections.refused == 1

        first.close()
        play.turn_until(lambda: len(play.host.connections) == 1)
        fourth = play.connect()
        for client in (second, fourth):
            client.send(b"echo:in")
            assert client.receive() == b"in"


def test_beyond_max_connections_one_waits_for_another_to_leave():
    with Playground(max_connections=2) as play:
        first = play.connect()
        play.connect()
        waiting = play.knock()
        waiting.send(b"echo:at last")
        play.turn(3)
        assert waiting.take() is None
        assert play.loop.poll(0) == [], "one who waits does not keep the loop awake"

        first.close()
        assert waiting.receive() == b"at last"
        assert play.host.connections.accepted == 3


class NodeOfACluster(ScriptedNode):
    controller_listeners = ("CONTROLLER",)
    brokers_listener = "BROKERS"


def test_clients_do_not_keep_other_nodes_out(caplog):
    clock = HandClock()
    with Playground(clock=clock, node=NodeOfACluster(None), max_connections=2) as play:
        to_controller, to_broker = play.inner
        silent = play.connect()
        clock.time += 1
        play.connect()
        waiting = play.knock()
        play.turn(2)
        assert "max.connections is reached count=2 limit=2 listeners=[PLAINTEXT]" in caplog.text

        for client in (play.connect(to=to_controller), play.connect(to=to_broker)):
            client.send(b"echo:in")
            assert client.receive() == b"in"

        assert silent.is_hung_up(), "for the broker, and not for the controller"
        assert waiting.take() is None
        connections = play.host.connections
        assert (len(connections), connections.waits, connections.given_up) == (3, 1, 1)


def test_when_one_leaves_those_who_wait_are_let_in_and_the_next_wait_is_told_again():
    with Playground(node=NodeOfACluster(None), max_connections=1) as play:
        first, second = play.connect(), play.knock()
        first.close()
        second.send(b"echo:in")
        assert second.receive() == b"in"
        assert play.host.connections.waits == 2


def test_descriptors_are_kept_for_other_nodes():
    with Playground(node=NodeOfACluster(None), connections_possible=4) as play:
        for _ in range(3):
            play.connect()
        waiting = play.knock()
        waiting.send(b"echo:in")
        play.turn(2)
        assert waiting.take() is None

        play.connect(to=play.inner[0])
        assert play.host.connections.limit == 3


def test_a_limit_raised_at_run_time_lets_those_who_wait_in():
    clock = HandClock()
    with Playground(clock=clock, max_connections=1) as play:
        play.connect()
        waiting = play.knock()
        waiting.send(b"echo:at last")
        play.turn(2)
        play.change(max_connections=5)
        clock.time += SWEEP_MS_MAX
        assert waiting.receive() == b"at last"


def test_no_more_are_let_in_than_there_are_descriptors_for():
    with Playground(connections_possible=1) as play:
        play.connect()
        play.knock()
        play.turn(3)
        assert play.host.connections.accepted == 1


def test_requests_are_counted_beyond_the_life_of_their_connection():
    with Playground() as play:
        first, second = play.connect(), play.connect()
        first.send(b"echo:1", b"echo:2")
        second.send(b"echo:3")
        assert [first.receive(), first.receive(), second.receive()] == [b"1", b"2", b"3"]
        first.close()
        play.turn_until(lambda: len(play.host.connections) == 1)
        assert play.host.connections.requests == 3


def test_memory_taken_by_a_large_request_is_given_back(transport):
    clock = HandClock()
    with Playground(clock=clock) as play:
        client = play.connect()
        client.send(b"echo:" + bytes(2_000_000))
        assert len(client.receive()) == 2_000_000
        if transport == "threads":
            return  # which get memory for each request by itself
        inbox = play.host.connections.by_number[1].transport._inbox
        assert inbox.capacity > 2_000_000
        for _ in range(2):
            clock.time += SWEEP_MS_MAX
            play.turn(2)
        assert inbox.capacity < 100_000
