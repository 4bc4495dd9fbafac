"""One deadline a key, the earliest first."""

from __future__ import annotations

from andiron.model.ids import NEVER, Millis
from andiron.model.timers import SPARE, Timers


def timers(**due: int) -> Timers[str]:
    made: Timers[str] = Timers()
    for key, time in due.items():
        made.set(key, Millis(time))
    return made


def test_nothing_is_due_without_deadlines():
    assert timers().next_deadline() == NEVER
    assert timers().take(Millis(10**12)) is None


def test_the_earliest_comes_first_and_once():
    due = timers(late=30, early=10, middle=20)

    assert [due.take(Millis(25)) for _ in range(3)] == ["early", "middle", None]
    assert due.next_deadline() == 30
    assert len(due) == 1


def test_what_is_due_at_the_same_time_comes_in_the_order_it_was_set():
    due = timers(b=10, a=10, c=10)

    assert [due.take(Millis(10)) for _ in range(3)] == ["b", "a", "c"]


def test_a_deadline_that_is_moved_counts_where_it_went():
    later, sooner = timers(x=10, y=15), timers(x=30, y=15)
    later.set("x", Millis(20))
    sooner.set("x", Millis(5))

    assert [later.take(Millis(99)), later.take(Millis(99)), later.take(Millis(99))] == ["y", "x", None]
    assert [sooner.take(Millis(99)), sooner.take(Millis(99)), sooner.take(Millis(99))] == ["x", "y", None]


def test_a_deadline_moved_away_and_back_comes_once():
    due = timers(x=10)
    due.set("x", Millis(20))
    due.set("x", Millis(10))

    assert due.next_deadline() == 10
    assert [due.take(Millis(99)), due.take(Millis(99))] == ["x", None]


def test_what_is_called_off_does_not_come():
    due = timers(x=10, y=20)
    due.cancel("x")
    due.cancel("nobody")

    assert "x" not in due
    assert due.next_deadline() == 20


def test_what_has_come_may_be_set_again():
    due = timers(x=10)
    assert due.take(Millis(10)) == "x"
    due.set("x", Millis(10))

    assert due.take(Millis(10)) == "x"


def test_deadlines_that_were_moved_take_no_more_room_than_those_that_count():
    due = timers(**{f"k{number}": 10**9 + number for number in range(50)})
    for moved in range(10_000):
        due.set("x", Millis(3_600_000 + moved))
        due.set("y", Millis(10_000 + moved))
        due.cancel("y")

    assert len(due) == 51
    assert due.entries <= 2 * 51 + SPARE


def test_what_is_due_comes_in_its_order_though_the_rest_was_cleared_away():
    due = timers(b=10, a=10, c=5)
    for moved in range(100):
        due.set("x", Millis(1_000 - moved))

    assert [due.take(Millis(2_000)) for _ in range(5)] == ["c", "b", "a", "x", None]


def test_when_all_is_called_off_nothing_is_kept_for_long():
    due = timers(**{f"k{number}": number for number in range(1_000)})
    for number in range(1_000):
        due.cancel(f"k{number}")

    assert due.entries <= SPARE
    assert due.next_deadline() == NEVER
