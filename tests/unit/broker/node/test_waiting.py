"""Who waits, who is woken, and who is told that it is too late."""

from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER


class Door:
    """Something to wait for."""

    open = False


def waiting_for(door, *watch, deadline=100):
    return Wait(watch, lambda: door.open, deadline, then=lambda: "in", otherwise=lambda: "late")


def told(conn):
    return lambda respond: [(conn, respond())]


def test_what_is_ready_is_answered_at_once():
    room, door = WaitingRoom(), Door()
    door.open = True

    assert room.admit(waiting_for(door, "a"), 1, told(1)) == [(1, "in")]
    assert len(room) == 0


def test_a_wake_answers_those_whose_time_has_come_and_only_once():
    room, door = WaitingRoom(), Door()
    assert room.admit(waiting_for(door, "a", "b"), 1, told(1)) == []

    assert room.wake("a") == []
    door.open = True
    assert room.wake("b") == [(1, "in")]
    assert room.wake("a") == []
    assert room.expire(1_000) == []


def test_waits_for_another_partition_are_not_woken():
    room, door = WaitingRoom(), Door()
    room.admit(waiting_for(door, "a"), 1, told(1))
    door.open = True

    assert room.wake("b") == []
    assert list(room.watching) == ["a"]


def test_the_deadline_answers_with_what_there_is():
    room, door = WaitingRoom(), Door()
    room.admit(waiting_for(door, "a", deadline=50), 1, told(1))
    room.admit(waiting_for(door, "a", deadline=40), 2, told(2))

    assert room.next_deadline() == 40
    assert room.expire(39) == []
    assert room.expire(50) == [(2, "late"), (1, "late")]
    assert room.next_deadline() == NEVER


def test_a_wait_without_end_has_no_deadline():
    room, door = WaitingRoom(), Door()
    room.admit(waiting_for(door, "a", deadline=NEVER), 1, told(1))

    assert room.next_deadline() == NEVER


def test_a_connection_that_is_gone_is_forgotten_everywhere():
    room, door = WaitingRoom(), Door()
    room.admit(waiting_for(door, "a", "b", deadline=40), 1, told(1))
    room.admit(waiting_for(door, "a", deadline=60), 2, told(2))

    room.forget(1)
    room.forget(7)
    door.open = True

    assert room.next_deadline() == 60
    assert room.wake("a") == [(2, "in")]
    assert len(room) == 0


def refuse():
    raise ErrorCode.REQUEST_TIMED_OUT.error("too slow")


def test_what_the_deadline_brings_is_turned_as_any_response():
    late = Wait((), lambda: False, 10, lambda: "in time", lambda: "late")
    assert late.and_then(str.upper).otherwise() == "LATE"


def test_a_response_can_be_turned_into_another():
    wait = Wait.over(lambda: 20).and_then(lambda found: found + 1)

    assert WaitingRoom().admit(wait, 1, told(1)) == [(1, 21)]


def test_an_error_can_be_turned_into_a_response_when_it_is_over_and_when_it_is_late():
    room, door = WaitingRoom(), Door()
    late = Wait(("a",), lambda: door.open, 50, then=lambda: "in", otherwise=refuse)
    named = [each.or_else(lambda error: error.code.name) for each in (Wait.over(refuse), late)]

    assert room.admit(named[0], 1, told(1)) == [(1, "REQUEST_TIMED_OUT")]
    room.admit(named[1], 2, told(2))
    assert room.expire(50) == [(2, "REQUEST_TIMED_OUT")]


def test_where_there_is_no_error_the_response_is_what_it_was():
    assert Wait.over(lambda: "in").or_else(lambda error: "out").then() == "in"


def test_what_comes_of_a_wait_may_be_another_and_its_error_is_turned_as_well():
    second = Wait.over(refuse)
    first = Wait.over(lambda: second).and_then(lambda found: found).or_else(lambda error: error.code.name)

    chained = first.then()

    assert isinstance(chained, Wait)
    assert chained.then() == "REQUEST_TIMED_OUT"


def test_a_turn_waits_for_the_last_of_a_chain():
    chained = Wait.over(lambda: Wait.over(lambda: 20)).and_then(lambda found: found + 1).then()

    assert chained.then() == 21


def test_several_waits_are_over_with_the_last_of_them():
    doors = Door(), Door()
    both = Wait.all([waiting_for(doors[0], "a", deadline=40), waiting_for(doors[1], "a", "b")])
    assert (both.watch, both.deadline) == (("a", "b"), 40)

    doors[0].open = True
    assert not both.until()
    assert both.otherwise() == ["in", "late"]
    doors[1].open = True
    assert both.until() and both.then() == ["in", "in"]


def test_several_of_none_are_over_at_once():
    assert WaitingRoom().admit(Wait.all([]), 1, told(1)) == [(1, [])]


def test_one_that_came_to_nothing_says_why():
    failed = Wait.failed(ErrorCode.NOT_COORDINATOR.error("elsewhere"))

    assert failed.or_else(lambda error: error.detail).then() == "elsewhere"


def test_who_was_answered_in_time_leaves_no_deadline_behind():
    room, door = WaitingRoom(), Door()
    room.admit(waiting_for(door, "a", deadline=10**9), 1, told(1))
    for number in range(5_000):
        passing = Door()
        room.admit(waiting_for(passing, number, deadline=2**31 - 1), 2, told(2))
        passing.open = True
        assert room.wake(number) == [(2, "in")]

    assert len(room) == 1
    assert room.deadlines.entries < 50
