from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.edge import native
from andiron.edge.handover import CROWD, FULL_WINDOWS, LARGE_BYTES, RESTING_WINDOWS, WINDOW_S
from edge.playground import Playground

pytestmark = pytest.mark.skipif(native.Channel is None, reason="the extension was not built here")


@pytest.fixture
def play() -> Iterator[Playground]:
    with Playground(network_threads_busy_ratio=0.5) as made:
        made.host.handover.due = float("inf")  # windows end when a test says so
        yield made


def window(play: Playground, busy: float, turns: int = 1) -> None:
    """One is over, in which the loop was as busy as that."""
    meter = play.host.meter
    meter.ended = play.host.handover._at + WINDOW_S
    meter.busy_s = play.host.handover._busy_s + WINDOW_S * busy
    meter.turns = play.host.handover._turns + turns
    play.host.handover.look()
    play.host.handover.due = float("inf")


def ask(clients: list, requests: int = 1) -> None:
    for client in clients:
        client.send(*[b"echo:x"] * requests)
    for client in clients:
        assert [client.receive() for _ in range(requests)] == [b"x"] * requests


def by_threads(play: Playground) -> int:
    return play.host.processors.connections


def test_a_loop_that_is_full_of_a_crowd_hands_it_over():
    with Playground(network_threads_busy_ratio=0.5) as play:
        play.host.handover.due = float("inf")
        crowd, idle = [play.connect() for _ in range(CROWD)], play.connect()
        for _ in range(FULL_WINDOWS):
            ask(crowd)
            window(play, busy=0.8)
        assert by_threads(play) == CROWD
        ask([*crowd, idle])


def test_a_loop_that_has_time_keeps_them(play):
    crowd = [play.connect() for _ in range(CROWD)]
    for _ in range(FULL_WINDOWS * 2):
        ask(crowd)
        window(play, busy=0.4)
    assert by_threads(play) == 0


def test_one_client_in_a_hurry_stays_with_the_loop(play):
    client = play.connect()
    for _ in range(FULL_WINDOWS * 2):
        ask([client])
        window(play, busy=0.9)
    assert by_threads(play) == 0


def test_those_whose_receives_have_several_requests_stay_with_the_loop(play):
    crowd = [play.connect() for _ in range(CROWD)]
    for _ in range(FULL_WINDOWS):
        ask(crowd, requests=5)
        window(play, busy=0.9)
    assert by_threads(play) == 0


def test_few_who_fetch_much_are_handed_over(play):
    readers = [play.connect() for _ in range(2)]
    for _ in range(FULL_WINDOWS):
        ask(readers)
        play.host.carrier.sendfile_bytes += LARGE_BYTES
        window(play, busy=0.9, turns=1_000)
    assert by_threads(play) == 2


def test_they_come_back_when_the_node_has_been_at_rest_for_a_while(play):
    client = play.connect()
    play.host.processors.adopt(next(iter(play.host.connections.by_number.values())))
    ask([client])
    for _ in range(RESTING_WINDOWS - 1):
        window(play, busy=0.1)
    window(play, busy=0.4)
    play.turn(3)
    assert by_threads(play) == 1
    for _ in range(RESTING_WINDOWS):
        window(play, busy=0.1)
    play.turn_until(lambda: not by_threads(play))
    ask([client])


def test_who_is_handed_over_is_served_before_the_next_turn():
    with Playground(network_threads_busy_ratio=0.0) as play:
        client = play.connect()
        client.send(b"echo:a")
        assert play.loop.poll(5.0), "its thread has received it"
        assert client.receive() == b"a"


def test_with_a_ratio_of_zero_threads_have_all_and_above_one_none():
    with Playground(network_threads_busy_ratio=0.0) as play:
        play.connect()
        assert by_threads(play) == 1
    with Playground(network_threads_busy_ratio=2.0) as play:
        play.connect()
        assert by_threads(play) == 0


def test_threads_that_are_to_have_none_any_more_give_back_what_they_have():
    with Playground(network_threads_busy_ratio=0.0) as play:
        client = play.connect()
        play.change(network_threads_busy_ratio=2.0)
        window(play, busy=1.0)
        play.turn_until(lambda: not by_threads(play))
        ask([client])
