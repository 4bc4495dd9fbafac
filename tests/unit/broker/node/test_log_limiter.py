"""What could be said with every request is said now and then."""

from andiron.broker.node.log_limiter import ABOUT_MAX, LogLimiter
from andiron.broker.node.patience import LOG_LIMIT_MS


def test_the_first_time_it_is_said_and_then_not_for_a_minute():
    limiter = LogLimiter()

    assert limiter.again("disk", 0) == 0
    assert [limiter.again("disk", at) for at in (1, 2, LOG_LIMIT_MS - 1)] == [None] * 3
    assert limiter.again("disk", LOG_LIMIT_MS) == 3
    assert limiter.again("disk", 2 * LOG_LIMIT_MS) == 0


def test_other_things_are_said_meanwhile():
    limiter = LogLimiter()
    limiter.again("a", 0)

    assert limiter.again("b", 1) == 0


def test_not_more_than_so_many_things_are_remembered():
    limiter = LogLimiter()
    for number in range(2 * ABOUT_MAX):
        limiter.again(number, 0)

    assert limiter.again(0, 0) == 0
    assert limiter.again(2 * ABOUT_MAX - 1, 0) is None
