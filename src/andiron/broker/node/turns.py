"""Turns: requests of one connection that must not overtake each other.

    batch 0 ─▶ asks its transaction's coordinator ···························▶ appended
    batch 1 ─▶ waits for its turn ·············································▶ appended
    batch 2 ────────────────────────────── comes later, has nothing to ask: waits for its turn all the same ─▶ appended

A producer sends several batches before the first is answered, and their sequences must arrive in order. The first of a
transaction waits for a word of its coordinator, perhaps from another broker; whatever comes after it on the same
connection, though it has nothing to wait for, stays behind it. Kafka has this by handling the requests of a connection
one after the other; here only those wait that have somebody before them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.model.ids import NEVER

T = TypeVar("T")


class Turn:
    """One request's place in the order of its connection: the key that the next one watches."""

    __slots__ = ("is_over",)

    def __init__(self) -> None:
        self.is_over = False


class Turns:
    """The last request of each connection that has something to wait for."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._last: dict[int, Turn] = {}

    def is_waiting(self, conn: int) -> bool:
        """Whether somebody is before the next request of a connection."""
        return conn in self._last

    def take(self, conn: int, begin: Callable[[], Wait], then: Callable[[Any], T]) -> T | Wait:
        """What `then` makes of what `begin` waits for, in its turn."""
        before, turn = self._last.get(conn), Turn()
        if before is None:
            wait = begin()
            if wait.until():
                return then(wait.then())
            self._last[conn] = turn
            return self._going(conn, turn, wait, then)
        self._last[conn] = turn

        def go() -> Wait:
            return self._going(conn, turn, begin(), then)

        return Wait((before,), lambda: before.is_over, NEVER, go, go)

    def forget(self, conn: int) -> None:
        """The connection is gone, and all that waits on it."""
        self._last.pop(conn, None)

    def _going(self, conn: int, turn: Turn, wait: Wait, then: Callable[[Any], Any]) -> Wait:
        def done(result: Any) -> Any:
            try:
                return then(result)
            finally:
                self._end(conn, turn)

        def failed(error: ProtocolError) -> Any:
            self._end(conn, turn)
            raise error

        return wait.and_then(done).or_else(failed)

    def _end(self, conn: int, turn: Turn) -> None:
        turn.is_over = True
        if self._last.get(conn) is turn:
            del self._last[conn]
        self._step.touch(turn)
