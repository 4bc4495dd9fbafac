from __future__ import annotations

from andiron.edge.clock import Clock
from andiron.model.awake import NAP_MS
from andiron.model.ids import wall_time

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


def test_time_begins_with_the_wall_clock_in_milliseconds():
    times = Times(wall=1_700_000_000_123, steady=5)
    clock = times.clock()

    assert clock.now() == wall_time(clock.now()) == 1_700_000_000_123
    times.move(wall=20, steady=20)
    assert clock.now() == wall_time(clock.now()) == 1_700_000_000_143


def test_whoever_sets_the_wall_clock_does_not_set_the_time_that_durations_are_measured_by():
    times = Times(wall=10_000, steady=0)
    clock = times.clock()

    times.move(wall=3_600_000, steady=10)
    assert (clock.now(), wall_time(clock.now())) == (10_010, 3_610_000)
    times.move(wall=-3_601_000, steady=10)
    assert (clock.now(), wall_time(clock.now())) == (10_020, 9_000)


def test_the_steady_clock_stands_still_while_the_process_does_and_the_walls_does_not():
    times = Times(wall=10_000, steady=0)
    clock = times.clock()
    times.move(wall=100, steady=100)
    clock.now()

    times.move(wall=60_000, steady=60_000)

    assert (clock.now(), wall_time(clock.now())) == (10_100 + NAP_MS, 70_100)
    assert clock.missed_ms == 60_000 - NAP_MS
