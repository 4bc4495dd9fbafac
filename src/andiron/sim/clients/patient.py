"""A client of a coordinator: insists where that helps, is haunted by its own requests, and sometimes drops dead.

insists     what fails for a reason that will pass is asked again, on another connection if need be
haunted     a request of its own comes once more, late, over a connection that it has long given up
drops dead  from one step to the next: it forgets everything, and is back after a while

A request that got no answer may have been carried out, may be carried out much later, or never. Whether it
is safe to ask again is for each client to know; `Refused` and `Gone` say how it went.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from andiron.model.errors import ErrorCode, Retriable
from andiron.sim.clients.client import Client, Gone, Script, Topic
from andiron.sim.network import Exchange

TRIES = 12

Asking = Generator[int | Exchange, Any, Any]


class Refused(Exception):
    """The answer was no, and will be."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Dropped(Exception):
    """The client has dropped dead."""


class Patient(Client):
    """One who talks to a coordinator."""

    fragility = 0.0  # the chance to drop dead, at each step that may be the last

    def insist(
        self, body: Any, version: int, code_of: Callable[[Any], int], *, again: bool, tries: int = TRIES
    ) -> Asking:
        """Ask until there is an answer; `again`: also if it is not known whether it was heard."""
        for _ in range(tries):
            try:
                yield from self.connected()
                response = yield self.ask(body, version)
            except Gone:
                if not again:
                    raise
                yield self.chance.randint(1, 200)
                continue
            code = ErrorCode.of(code_of(response))
            if code is ErrorCode.NONE:
                return response
            if code.remedy is None or not issubclass(code.remedy, Retriable):
                raise Refused(code)
            yield self.chance.choice([20, 100, 500])
        raise Refused(ErrorCode.REQUEST_TIMED_OUT)

    def find_all(self, names: list[str]) -> Generator[int | Exchange, Any, list[Topic]]:
        """All of these topics; none while one of them is missing."""
        topics = yield from self.find_topics(names)
        if len(topics) < len(names):
            yield 100
            return []
        return topics

    def may_drop_dead(self) -> None:
        """Perhaps this is the end."""
        if self.chance.random() < self.fragility:
            raise Dropped

    def drop_dead(self, away_ms: int) -> Script:
        """Be gone, and come back."""
        self.world.note(self.name, "drops dead")
        self.hang_up()
        yield self.chance.randint(1, away_ms)

    def haunt(self, body: Any, version: int, notes: dict[Any, Any] | None = None) -> None:
        """Let a request of this client come, once more, after a while."""
        ghost = _Ghost(self, body, version, notes or {})
        self.world.after(self.chance.choice([5, 300, 1_500, 4_000]), ghost.begin)


class _Ghost(Client):
    """A request that was under way for long, and nobody waits for any more."""

    def __init__(self, of: Client, body: Any, version: int, notes: dict[Any, Any]) -> None:
        super().__init__(of.world, of.network, of.host, f"{of.name}'s")
        self._body, self._version, self._notes = body, version, notes

    def live(self) -> Script:
        self.link = self.network.connect(self, self.host)
        if self.link is None:
            return
        exchange = self.ask(self._body, self._version)
        exchange.notes.update(self._notes)
        try:
            yield exchange
        except Gone:
            return
