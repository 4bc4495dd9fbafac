"""The waiting room: replies that may leave once something has happened.

A handler that cannot answer yet returns a Wait instead of a response. It names what to
watch (partitions, mostly), what it waits for, and what to answer then or in the end.
Kafka calls this the purgatory.

    handler ── Wait ──▶ admit ──▶ [ waiting, by what is watched · by deadline · by connection ]
                                     │ wake(key): something happened to it
                                     │ expire(now): its time is up
                                     │ forget(conn): nobody is there to be told
                                     ▼
                                   Reply

A change wakes only those who watch what changed, once at the end of the step. The room
never walks everyone: a thousand idle long polls cost nothing until their partition moves.

What comes of a wait may be another one: a request that needs several things one after the
other is a chain of them (`and_then` with a turn that returns a Wait).

Read next: node.py, which asks the room at the end of each step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from andiron.model.effects import Effect
from andiron.model.errors import ProtocolError
from andiron.model.ids import NEVER, Millis
from andiron.model.line import Line
from andiron.model.timers import Timers

NOBODY = -1  # the connection of what a node waits for on its own account

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Wait:
    """A response that is not ready: `then` gives it, or the next Wait, once `until` holds, `otherwise` at the
    deadline."""

    watch: tuple[Hashable, ...]  # each once
    until: Callable[[], bool]
    deadline: Millis
    then: Callable[[], Any]
    otherwise: Callable[[], Any]

    def and_then(self, turn: Callable[[Any], Any]) -> Wait:
        """The same wait, for what `turn` makes of the response, be it the one that the deadline brings."""
        then, otherwise = self.then, self.otherwise
        return Wait(
            self.watch,
            self.until,
            self.deadline,
            lambda: _and_then(then(), turn),
            lambda: _and_then(otherwise(), turn),
        )

    def or_else(self, turn: Callable[[ProtocolError], Any]) -> Wait:
        """The same wait, for what `turn` makes of an error in the response's place."""
        then, otherwise = partial(_or_else, self.then, turn), partial(_or_else, self.otherwise, turn)
        return Wait(self.watch, self.until, self.deadline, then, otherwise)

    @classmethod
    def over(cls, then: Callable[[], Any]) -> Wait:
        """One that has nothing left to wait for."""
        return cls((), lambda: True, NEVER, then, then)

    @classmethod
    def all(cls, awaited: Sequence[Any]) -> Wait:
        """One for several, none of which chains: it gives the list of their responses. What is no Wait is a response
        already: of thousands that are there at once, none is kept as a Wait (`settled`)."""
        waits = [each for each in awaited if isinstance(each, Wait)]
        return cls(
            watch=tuple(dict.fromkeys(key for wait in waits for key in wait.watch)),
            until=lambda: all(wait.until() for wait in waits),
            deadline=min((wait.deadline for wait in waits), default=NEVER),
            then=lambda: [each.then() if isinstance(each, Wait) else each for each in awaited],
            otherwise=lambda: [each.in_the_end() if isinstance(each, Wait) else each for each in awaited],
        )

    def settled(self) -> Any:
        """The response, if there is nothing left to wait for; else the wait itself."""
        return self.then() if self.until() else self

    def in_the_end(self) -> Any:
        """What the deadline brings."""
        return self.then() if self.until() else self.otherwise()

    @classmethod
    def failed(cls, error: ProtocolError) -> Wait:
        """One that is over, and came to nothing."""
        return cls.over(partial(_fail, error))


def _and_then(response: Any, turn: Callable[[Any], Any]) -> Any:
    return response.and_then(turn) if isinstance(response, Wait) else turn(response)


def _or_else(respond: Callable[[], Any], turn: Callable[[ProtocolError], Any]) -> Any:
    try:
        response = respond()
    except ProtocolError as error:
        return turn(error)
    return response.or_else(turn) if isinstance(response, Wait) else response


def _fail(error: ProtocolError) -> None:
    raise error


# Makes the effects of a response: it calls what it is given to get one.
Answer = Callable[[Callable[[], Any]], list[Effect]]


@dataclass(eq=False, slots=True)
class _Waiter:
    wait: Wait
    conn: int
    answer: Answer


class WaitingRoom:
    """All requests of a node that are waiting for something."""

    def __init__(self) -> None:
        self.watching: dict[Hashable, dict[int, _Waiter]] = {}  # by what they wait for; cheap to ask
        self._of_conn: dict[int, dict[int, _Waiter]] = {}
        self.deadlines: Timers[int] = Timers()
        self._waiters: dict[int, _Waiter] = {}
        self._number = 0

    def __len__(self) -> int:
        return len(self._waiters)

    def admit(self, wait: Wait, conn: int, answer: Answer) -> list[Effect]:
        """Let a request wait, or answer it at once if there is nothing left to wait for."""
        if wait.until():
            return answer(wait.then)
        self._number += 1
        number, waiter = self._number, _Waiter(wait, conn, answer)
        self._waiters[number] = waiter
        for key in wait.watch:
            self.watching.setdefault(key, {})[number] = waiter
        self._of_conn.setdefault(conn, {})[number] = waiter
        if wait.deadline < NEVER:
            self.deadlines.set(number, wait.deadline)
        return []

    def later(self, wait: Wait, then: Callable[[Any], None]) -> None:
        """Go on with `then` once a wait of this node's own is over. If it comes to nothing, that is logged."""

        def answer(respond: Callable[[], Any]) -> list[Effect]:
            try:
                response = respond()
            except ProtocolError as error:
                log.warning(Line("Node leaves undone what it wanted of itself", error=error))
                return []
            if isinstance(response, Wait):
                return self.admit(response, NOBODY, answer)
            then(response)
            return []

        self.admit(wait, NOBODY, answer)

    def wake(self, key: Hashable) -> list[Effect]:
        """Something happened to `key`: answer whoever was waiting for just that."""
        waiters = self.watching.get(key)
        if not waiters:
            return []
        replies: list[Effect] = []
        for number, waiter in list(waiters.items()):
            if number in self._waiters and waiter.wait.until():
                self._leave(number)
                replies += waiter.answer(waiter.wait.then)
        return replies

    def expire(self, now: Millis) -> list[Effect]:
        """Answer everyone whose time is up."""
        replies: list[Effect] = []
        while (number := self.deadlines.take(now)) is not None:
            waiter = self._waiters[number]
            self._leave(number)
            replies += waiter.answer(waiter.wait.in_the_end)
        return replies

    def forget(self, conn: int) -> None:
        """The connection is gone: its requests wait for nothing any more."""
        for number in list(self._of_conn.get(conn, ())):
            self._leave(number)

    def next_deadline(self) -> Millis:
        """When `expire` has something to do, if nothing happens before."""
        return self.deadlines.next_deadline()

    def _leave(self, number: int) -> None:
        waiter = self._waiters.pop(number)
        self.deadlines.cancel(number)
        for key in waiter.wait.watch:
            watching = self.watching[key]
            del watching[number]
            if not watching:
                del self.watching[key]
        of_conn = self._of_conn[waiter.conn]
        del of_conn[number]
        if not of_conn:
            del self._of_conn[waiter.conn]
