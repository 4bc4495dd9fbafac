"""Requests of one connection that must not overtake each other."""

import pytest

from andiron.broker.node.turns import Turns
from andiron.broker.node.waiting import Wait, WaitingRoom
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER
from worlds.noting import NotedStep


class Connection:
    """Requests that wait for what the test says, and the order in which they are done."""

    def __init__(self):
        self.room, self.done, self.step = WaitingRoom(), [], NotedStep()
        self.turns = Turns(self.step)

    def send(self, name, *, waits=True, conn=1):
        answers = []
        here = {"is": not waits}

        def given():
            if isinstance(here.get("error"), ProtocolError):
                raise here["error"]

        def begin():
            return Wait((name,), lambda: here["is"], NEVER, given, given)

        response = self.turns.take(conn, begin, lambda _: self.done.append(name))
        if isinstance(response, Wait):
            self.admit(response, conn, answers)

        def answer(error=None):
            here["is"], here["error"] = True, error
            self.wake(name)

        return answer

    def admit(self, wait, conn, answers):
        def answered(respond):
            try:
                response = respond()
            except ProtocolError:
                return []
            if isinstance(response, Wait):
                return self.room.admit(response, conn, answered)
            return []

        self.room.admit(wait, conn, answered)

    def wake(self, key):
        self.room.wake(key)
        while self.step.touched:
            self.room.wake(self.step.touched.pop(0))


@pytest.fixture
def connection():
    return Connection()


def test_who_has_nothing_to_wait_for_and_nobody_before_it_goes_at_once(connection):
    connection.send("a", waits=False)

    assert connection.done == ["a"]
    assert not connection.turns.is_waiting(1)


def test_no_batch_overtakes_another_of_its_connection(connection):
    first = connection.send("a")
    connection.send("b", waits=False)
    third = connection.send("c")
    connection.send("d", waits=False)
    assert connection.done == []

    first()
    assert connection.done == ["a", "b"]
    third()
    assert connection.done == ["a", "b", "c", "d"]
    assert not connection.turns.is_waiting(1)


def test_other_connections_have_turns_of_their_own(connection):
    connection.send("a", conn=1)
    connection.send("b", conn=2, waits=False)

    assert connection.done == ["b"]


def test_one_that_comes_to_nothing_holds_up_nobody(connection):
    first = connection.send("a")
    connection.send("b", waits=False)

    first(ErrorCode.NETWORK_EXCEPTION.error("gone"))

    assert connection.done == ["b"]


def test_a_connection_that_is_gone_leaves_nothing_behind(connection):
    connection.send("a")
    connection.turns.forget(1)

    assert not connection.turns.is_waiting(1)
