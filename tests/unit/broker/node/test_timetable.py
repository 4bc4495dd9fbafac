"""What is due is done, in order and once."""

import pytest

from andiron.broker.node.timetable import Timetable
from andiron.model.ids import NEVER


@pytest.fixture
def timetable():
    return Timetable()


@pytest.fixture
def done():
    return []


def test_what_is_due_is_done_in_the_order_of_its_time(timetable, done):
    for due in (30, 10, 20, 40):
        timetable.at(due, lambda now, due=due: done.append((due, now)))

    timetable.run(30)

    assert done == [(10, 30), (20, 30), (30, 30)]
    assert timetable.next_deadline() == 40


def test_what_is_due_at_one_time_is_done_in_the_order_in_which_it_was_put_in(timetable, done):
    for name in "abc":
        timetable.at(10, lambda now, name=name: done.append(name))

    timetable.run(10)

    assert done == ["a", "b", "c"]


def test_what_is_done_is_done_once(timetable, done):
    timetable.at(10, done.append)

    timetable.run(10)
    timetable.run(20)

    assert done == [10]
    assert timetable.next_deadline() == NEVER


def test_never_is_never(timetable, done):
    timetable.at(NEVER, done.append)

    timetable.run(NEVER)

    assert (done, timetable.next_deadline()) == ([], NEVER)


def test_what_a_task_puts_in_waits_for_the_next_turn(timetable, done):
    def again(now):
        done.append(now)
        timetable.at(now, again)

    timetable.at(10, again)
    timetable.run(10)

    assert done == [10]
    assert timetable.next_deadline() == 10


def test_a_task_that_fails_takes_no_other_with_it(timetable, done):
    def fail(now):
        raise ZeroDivisionError

    timetable.at(10, fail)
    timetable.at(10, done.append)
    timetable.at(11, done.append)

    with pytest.raises(ZeroDivisionError):
        timetable.run(20)
    timetable.run(21)

    assert done == [21, 21]
