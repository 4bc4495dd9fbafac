from andiron.sim.clock import Clock


class Time:
    now = 1_000


def test_a_clock_goes_with_the_world_and_by_its_jumps():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.restart()
    assert clock.now() == 1_000
    clock.jump(500)
    time.now += 10
    assert clock.now() == 1_510


def test_set_back_it_goes_at_half_speed_until_the_wall_has_caught_up():
    time = Time()
    clock = Clock(lambda: time.now)
    clock.restart()
    clock.now()
    clock.jump(-100)
    seen = []
    for _ in range(5):
        time.now += 50
        seen.append(clock.now())
    assert seen == [1_025, 1_050, 1_075, 1_100, 1_150]


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
