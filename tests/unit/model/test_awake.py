"""The time that a node was awake."""

from andiron.model.awake import AWAY_MS, NAP_MS, AwakeTime


def test_who_looks_often_enough_misses_nothing():
    time = AwakeTime(1_000)

    assert [time.at(now) for now in range(1_000, 60_000, NAP_MS)] == list(range(1_000, 60_000, NAP_MS))
    assert time.missed_ms == 0


def test_who_comes_a_little_late_was_not_away():
    assert AwakeTime(0).at(AWAY_MS) == AWAY_MS


def test_of_a_pause_one_nap_counts():
    time = AwakeTime(0)
    time.at(100)

    assert time.at(10_000) == 100 + NAP_MS
    assert time.at(10_100) == 200 + NAP_MS
    assert time.missed_ms == 9_900 - NAP_MS


def test_for_one_that_is_always_held_up_time_goes_slowly_and_does_not_stop():
    time = AwakeTime(0)

    assert time.at(60_000) < time.at(120_000) < time.at(180_000) == 3 * NAP_MS


def test_it_never_goes_back():
    time = AwakeTime(0)
    seen = [time.at(now) for now in (0, 400, 5_000, 5_001, 5_600, 6_000, 20_000)]

    assert seen == sorted(seen)
