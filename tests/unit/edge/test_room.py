"""Who gets room for a large request, and who waits."""

from __future__ import annotations

from andiron.edge.room import Room, machines_memory


class Guest:
    def __init__(self, room: Room, size: int) -> None:
        self.room, self.size, self.is_in = room, size, False

    def has_room(self) -> None:
        self.is_in = self.room.take(self.size)


def test_while_any_is_left_a_request_gets_all_it_needs():
    room = Room(lambda: 100)

    assert room.take(99)
    assert room.take(500)
    assert not room.take(1)
    assert room.taken == 599


def test_those_who_wait_try_again_when_there_is_some():
    room = Room(lambda: 100)
    room.take(60)
    room.take(60)
    first, second = Guest(room, 80), Guest(room, 1)
    room.waiting = {first: None, second: None}

    room.give_back(10)
    assert not first.is_in
    room.give_back(50)

    assert (first.is_in, second.is_in) == (True, False)
    assert room.taken == 140


def test_none_is_too_large_where_there_is_nobody_else():
    assert Room(lambda: 0).take(100)


def test_without_a_limit_it_is_a_quarter_of_the_machine():
    assert Room(lambda: -1).limit == machines_memory() // 4 > 0
