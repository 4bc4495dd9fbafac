"""A client of a coordinator: insists where that helps, is haunted by its own requests, and sometimes drops dead.

insists     what fails for a reason that will pass is asked again, on another connection if need be, and of another
            node if the coordinator has moved
haunted     a request of its own comes once more, late, over a connection that it has long given up
drops dead  from one step to the next: it forgets everything, and is back after a while

A request that got no answer may have been carried out, may be carried out much later, or never. Whether it
is safe to ask again is for each client to know; `Refused` and `Gone` say how it went.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from andiron.model.errors import ErrorCode
from andiron.sim.clients.client import Client, Connecting, Gone, Script, Topic
from andiron.sim.clients.signposts import Key, passes
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest

TRIES = 12
SEVERAL_SINCE = 4  # of FindCoordinator: keys in one request

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
        self,
        body: Any,
        version: int,
        code_of: Callable[[Any], int],
        *,
        of: Key,
        again: bool,
        tries: int = TRIES,
    ) -> Asking:
        """Ask the coordinator of a key until there is an answer; `again`: also if it is not known whether it was
        heard."""
        for _ in range(tries):
            try:
                coordinator = yield from self.at_coordinator(of)
                response = yield self.ask(body, version, via=coordinator)
            except Gone:
                self.signposts.forget(of)
                if not again:
                    raise
                yield self.chance.randint(1, 200)
                continue
            code = ErrorCode.of(code_of(response))
            if code is ErrorCode.NONE:
                return response
            if not passes(code):
                raise Refused(code)
            self.was_sent_away(of, code)
            yield self.chance.choice([20, 100, 500])
        raise Refused(ErrorCode.REQUEST_TIMED_OUT)

    def at_coordinator(self, of: Key) -> Connecting:
        """Wait for a connection to the coordinator of a key; Gone if it is not known or cannot be had."""
        host = self.signposts.coordinator_of(of)
        if host is None:
            host = yield from self._find_coordinator(of)
        return (yield from self.connected(host))

    def was_sent_away(self, of: Key, code: ErrorCode) -> None:
        """A node has answered that it is not, or not yet, the coordinator of a key; or something else."""
        if code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE):
            self.signposts.forget(of)

    def _find_coordinator(self, of: Key) -> Generator[int | Exchange, Any, Host]:
        """Ask any broker until one can tell."""
        for _ in range(TRIES):
            yield from self.connected()
            kind, name = of
            version = self.chance.randint(1, 6)
            request = FindCoordinatorRequest(key=name, key_type=kind, coordinator_keys=[name])
            response = yield self.ask(request, version)
            found = response.coordinators[0] if version >= SEVERAL_SINCE else response
            host = None if found.error_code else self.signposts.find(of, found.host, found.port)
            if host is not None:
                return host
            yield self.chance.choice([20, 100, 500])
        raise Gone

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

    def haunt(self, body: Any, version: int, at: Host | None, notes: dict[Any, Any] | None = None) -> None:
        """Let a request of this client come, once more, after a while, to where it went, or to anybody."""
        host = at or self.chance.choice(self.signposts.brokers)
        ghost = _Ghost(self, host, body, version, notes or {})
        self.world.after(self.chance.choice([5, 300, 1_500, 4_000]), ghost.begin)


class _Ghost(Client):
    """A request that was under way for long, and nobody waits for any more."""

    def __init__(self, of: Client, host: Host, body: Any, version: int, notes: dict[Any, Any]) -> None:
        super().__init__(of.world, of.network, f"{of.name}'s")
        self._host, self._body, self._version, self._notes = host, body, version, notes

    def live(self) -> Script:
        link = self.connect(self._host)
        if link is None:
            return
        exchange = self.ask(self._body, self._version, via=link)
        exchange.notes.update(self._notes)
        try:
            yield exchange
        except Gone:
            return
