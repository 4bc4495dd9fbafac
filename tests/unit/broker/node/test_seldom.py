"""What could be said with every request is said now and then."""

from andiron.broker.node.patience import SELDOM_MS
from andiron.broker.node.seldom import ABOUT_MAX, Seldom


def test_the_first_time_it_is_said_and_then_not_for_a_minute():
    seldom = Seldom()

    assert seldom.again("disk", 0) == ""
    assert [seldom.again("disk", at) for at in (1, 2, SELDOM_MS - 1)] == [None] * 3
    assert seldom.again("disk", SELDOM_MS) == " (3 times since)"
    assert seldom.again("disk", 2 * SELDOM_MS) == ""


def test_other_things_are_said_meanwhile():
    seldom = Seldom()
    seldom.again("a", 0)

    assert seldom.again("b", 1) == ""


def test_not_more_than_so_many_things_are_remembered():
    seldom = Seldom()
    for number in range(2 * ABOUT_MAX):
        seldom.again(number, 0)

    assert seldom.again(0, 0) == ""
    assert seldom.again(2 * ABOUT_MAX - 1, 0) is None
