"""What could be said with every request is said now and then."""

from andiron.broker.node.log_limiter import ABOUT_MAX, EVERY_MS, LogLimiter


def test_the_first_time_it_is_said_and_then_not_for_a_minute():
    seldom = LogLimiter()

    assert seldom.again("disk", 0) == 0
    assert [seldom.again("disk", at) for at in (1, 2, EVERY_MS - 1)] == [None] * 3
    assert seldom.again("disk", EVERY_MS) == 3
    assert seldom.again("disk", 2 * EVERY_MS) == 0


def test_other_things_are_said_meanwhile():
    seldom = LogLimiter()
    seldom.again("a", 0)

    assert seldom.again("b", 1) == 0


def test_not_more_than_so_many_things_are_remembered():
    seldom = LogLimiter()
    for number in range(2 * ABOUT_MAX):
        seldom.again(number, 0)

    assert seldom.again(0, 0) == 0
    assert seldom.again(2 * ABOUT_MAX - 1, 0) is None
