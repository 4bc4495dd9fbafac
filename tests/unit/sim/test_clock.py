from andiron.model.awake import NAP_MS
from andiron.model.ids import wall_time
from andiron.sim.clock import Clock


class Time:
    now = 1_000


def test_the_wall_clock_goes_by_its_jumps_and_the_steady_one_with_the_world():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.restart()
    assert clock.now() == wall_time(clock.now()) == 1_000
    for jump_ms in (500, -700):
        clock.jump(jump_ms)
        time.now += 10
    assert (clock.now(), wall_time(clock.now())) == (1_020, 820)


def test_another_process_starts_with_what_the_wall_says():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.restart()
    clock.now()
    clock.jump(-100)
    clock.restart()
    assert clock.now() == 900


def test_its_reach_goes_at_least_as_fast_whatever_happens():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.jump(300)
    clock.jump(-1_000)
    time.now += 5
    assert clock.reach == 1_305
    assert clock.wait_ms(clock.now() + 7) == 7
    assert clock.wait_ms(0) == 0


def test_it_stands_still_while_the_process_is_paused_and_not_while_nothing_happens():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.restart()
    time.now += 60_000
    assert clock.now() == 61_000

    clock.stop()
    time.now += 5_000
    assert clock.now() == 61_000
    clock.go_on()

    assert (clock.now(), wall_time(clock.now())) == (61_000 + NAP_MS, 66_000)
    time.now += 10_000
    assert clock.now() == 71_000 + NAP_MS
