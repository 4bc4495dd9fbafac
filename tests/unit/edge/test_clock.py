from __future__ import annotations

from andiron.edge.clock import Clock

MS = 1_000_000


class Times:
    """A wall clock and a steady one, set by hand, in milliseconds."""

    def __init__(self, wall: int, steady: int) -> None:
        self.wall, self.steady = wall, steady

    def clock(self) -> Clock:
        return Clock(lambda: self.wall * MS, lambda: self.steady * MS)

    def move(self, wall: int, steady: int) -> None:
        self.wall += wall
        self.steady += steady


def test_time_is_the_wall_clock_in_milliseconds():
    times = Times(wall=1_700_000_000_123, steady=5)
    clock = times.clock()

    assert clock.now() == 1_700_000_000_123
    times.move(wall=20, steady=20)
    assert clock.now() == 1_700_000_000_143


def test_time_does_not_go_back_with_the_wall_clock():
    times = Times(wall=10_000, steady=0)
    clock = times.clock()

    times.move(wall=-1_000, steady=0)
    assert clock.now() == 10_000


def test_time_runs_at_half_speed_until_the_wall_clock_has_caught_up():
    times = Times(wall=10_000, steady=0)
    clock = times.clock()
    times.move(wall=-1_000, steady=0)
    clock.now()

    times.move(wall=1_000, steady=1_000)
    assert clock.now() == 10_500
    times.move(wall=1_000, steady=1_000)
    assert clock.now() == 11_000
    times.move(wall=1_000, steady=1_000)
    assert clock.now() == 12_000


def test_a_wall_clock_set_forward_is_followed_at_once():
    times = Times(wall=10_000, steady=0)
    clock = times.clock()

    times.move(wall=3_600_000, steady=1)
    assert clock.now() == 3_610_000
