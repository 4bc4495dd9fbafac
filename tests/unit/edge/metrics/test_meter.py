"""Time is read twice a turn, and everything in the turn is timed by that."""

from __future__ import annotations

import pytest

from andiron.edge.metrics.meter import (
    BOUNDS,
    FETCH,
    FOLLOWER_FETCH,
    ONE_IN,
    RATIO_S,
    Histogram,
    Meter,
    SampledTimes,
)
from edge.playground import Playground

PRODUCE = 0


class HandTime:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> HandTime:
    return HandTime()


@pytest.fixture
def meter(time) -> Meter:
    return Meter(time)


def turn(meter: Meter, time: HandTime, *, idle: float = 0.0, busy: float = 0.0) -> None:
    time.now += idle
    meter.turn_begins()
    time.now += busy
    meter.turn_ends()


def count(meter: Meter, kind: int, times: int = 1) -> None:
    for _ in range(times):
        if not meter.of_turn[kind]:
            meter.kinds.append(kind)
        meter.of_turn[kind] += 1


def test_a_histogram_counts_up_to_and_including_its_bounds():
    seen = Histogram((1.0, 2.0))
    for seconds in (0.5, 1.0, 1.5, 2.0, 2.1):
        seen.add(seconds)

    assert seen.counts == [2, 2, 1]
    assert seen.sum == pytest.approx(7.1)


def test_bounds_rise():
    assert list(BOUNDS) == sorted(set(BOUNDS))


def test_what_is_not_spent_in_turns_is_idle(meter, time):
    turn(meter, time, idle=3, busy=1)
    turn(meter, time, idle=2, busy=0.5)

    assert (meter.idle_s, meter.busy_s, meter.turns) == (5, 1.5, 2)


def test_requests_of_a_turn_took_as_long_as_the_turn(meter, time):
    meter.turn_begins()
    count(meter, PRODUCE, 3)
    count(meter, FETCH)
    time.now += 0.002
    meter.turn_ends()

    assert sum(meter.durations[PRODUCE].counts) == 3
    assert meter.durations[PRODUCE].sum == pytest.approx(0.006)
    assert sum(meter.durations[FETCH].counts) == 1
    assert not meter.waits

    turn(meter, time, busy=1)
    assert sum(meter.durations[PRODUCE].counts) == 3, "they are counted once"


def test_one_that_waited_is_timed_from_the_turn_it_came_in(meter, time):
    came = meter.began
    turn(meter, time, idle=0.4, busy=0.1)
    time.now += 0.5
    meter.turn_begins()
    meter.late.append((FETCH, came))
    time.now += 0.25
    meter.turn_ends()

    assert meter.durations[FETCH].sum == pytest.approx(1.25)
    assert meter.waits[FETCH].sum == pytest.approx(1.0)


def test_a_flush_takes_from_the_wish_to_the_end(meter, time):
    meter.flush_begins(7)
    time.now += 0.03
    meter.flush_ends(7)
    meter.flush_ends(8)

    assert sum(meter.flushes.counts) == 1
    assert meter.flushes.sum == pytest.approx(0.03)


def test_the_idle_ratio_is_that_of_late(meter, time):
    assert meter.idle_ratio() == 1
    turn(meter, time, idle=RATIO_S * 0.75, busy=RATIO_S * 0.25)
    assert meter.idle_ratio() == pytest.approx(0.75)
    turn(meter, time, busy=RATIO_S)
    assert meter.idle_ratio() == pytest.approx(0)
    assert meter.idle_ratio() == pytest.approx(0), "asking again at once does not change it"


def test_uptime_goes_on_while_nothing_happens(meter, time):
    time.now += 60
    assert meter.uptime_s == 60


# ── as a host counts ─────────────────────────────────────────────────────────────────


def counted(play: Playground) -> dict[str, int]:
    return {chr(kind): sum(each.counts) for kind, each in play.host.meter.durations.items() if kind < 256}


def waited(play: Playground) -> dict[str, int]:
    return {chr(kind): sum(each.counts) for kind, each in play.host.meter.waits.items()}


def test_a_host_counts_every_request_by_its_second_byte():
    with Playground() as play:
        client = play.connect()
        client.send(b"echo:a", b"echo:b", b"size:3", b"silent:")
        for _ in range(3):
            client.receive()
        play.turn()

        assert counted(play) == {"c": 2, "i": 2}
        assert waited(play) == {}


def test_those_that_wait_are_counted_when_they_leave():
    with Playground() as play:
        client = play.connect()
        client.send(b"later:a", b"echo:b")
        play.turn_until(lambda: len(play.node.texts) == 2)
        play.turn()
        assert counted(play) == {}, "b was answered, and waits for its turn"

        play.node.release(b"a")
        assert [client.receive(), client.receive()] == [b"a", b"b"]
        play.turn()
        assert counted(play) == {"a": 1, "c": 1}
        assert waited(play) == {"a": 1, "c": 1}


def test_answers_that_come_out_of_order_are_each_counted_once():
    with Playground() as play:
        client = play.connect()
        client.send(b"later:a", b"later:b", b"later:c", b"echo:d")
        play.turn_until(lambda: len(play.node.texts) == 4)
        for text in (b"c", b"b", b"a"):
            play.node.release(text)
            play.turn()
        assert [client.receive() for _ in range(4)] == [b"a", b"b", b"c", b"d"]
        client.send(b"echo:e")
        assert client.receive() == b"e"
        play.turn()

        assert counted(play) == {"a": 3, "c": 2}
        assert waited(play) == {"a": 3, "c": 1}


def test_a_frame_that_is_too_short_to_have_a_kind_gets_to_the_node_all_the_same(caplog):
    with Playground() as play:
        client = play.connect()
        client.send(b"")
        assert client.is_hung_up()
        assert play.node.texts == [""]


def test_flushes_are_timed(tmp_path):
    from andiron.edge.disk import PosixDisk

    file = PosixDisk().open(f"{tmp_path}/file")
    file.append(b"0123456789")
    with Playground(file=file) as play:
        client = play.connect()
        client.send(b"flush:a", b"flush:b")
        assert [client.receive(), client.receive()] == [b"a", b"b"]

        assert sum(play.host.meter.flushes.counts) == 2


def test_a_loop_that_waits_is_idle():
    with Playground() as play:
        play.turn(3)
        assert play.host.meter.idle_s > 0.05
        assert play.host.meter.busy_s < play.host.meter.idle_s


def test_one_in_so_many_is_timed_and_the_first_is(time):
    times = SampledTimes(time)
    for _ in range(2 * ONE_IN):
        times.left -= 1
        began = 0.0 if times.left else times.begins()
        time.now += 0.003
        if began:
            times.ends(began)

    assert sum(times.histogram.counts) == 2
    assert times.histogram.sum == pytest.approx(0.006)


def test_a_fetch_of_a_follower_is_a_kind_of_its_own():
    with Playground() as play:
        follower, consumer = play.connect(), play.connect()
        play.host.meter.followers = [1]
        for client in (follower, consumer):
            client.send(b"\x00\x01:")
        play.turn_until(lambda: len(play.node.texts) == 2)
        play.turn()

        assert [sum(play.host.meter.durations[kind].counts) for kind in (FOLLOWER_FETCH, FETCH)] == [1, 1]


def test_the_longest_turn_of_late_is_remembered_for_as_long_as_somebody_may_ask(meter, time):
    turn(meter, time, busy=0.2)
    turn(meter, time, busy=1.5)
    turn(meter, time, busy=0.1)
    time.now += RATIO_S
    assert meter.longest_turn_s() == meter.longest_turn_s() == pytest.approx(1.5)

    turn(meter, time, busy=0.3)
    time.now += RATIO_S
    assert meter.longest_turn_s() == pytest.approx(1.5)
    assert meter.longest_turn_s() == pytest.approx(0.3)
