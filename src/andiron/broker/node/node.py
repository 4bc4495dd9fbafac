"""A broker: machines, a waiting room, and one way in.

`step` takes one event and returns the effects; nothing else changes a node. The edge that
owns it (edge/host.py or sim/world.py) carries the effects out.

    Received ─▶ header ─▶ decode ─▶ handler ─▶ response ─▶ encode ─▶ Reply
             │                         └─────▶ Wait ─▶ waiting room ┄┄▶ Reply, later
             ├▶ shortcut.py, where a producer repeats itself ────────▶ Reply
             └▶ slices.py, where a request is large: each of these a slice a step

A handler answers its own request only. What it has done is noted in the step's record
(step.py), and at the end of the step all that follows from it does: whoever else it sets
free is answered, and the fsyncs that it asked for are sent out (Broker.end_step).

What cannot be parsed, or is not served, closes the connection with a reason in the log, as
Kafka does: a client that asked ApiVersions never comes to that.

Read next: broker.py for what handlers work on, then handlers/produce.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

from andiron.broker.broker import Broker
from andiron.broker.handlers import HANDLERS
from andiron.broker.node.request import Request
from andiron.broker.node.routes import Route, unserved
from andiron.broker.node.shortcut import Shortcut
from andiron.broker.node.slices import InSlices, LongWork, in_slices, nothing_before
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.broker.settings.node_settings import NodeSettings
from andiron.log.disk import Disk
from andiron.model.effects import (
    Answered,
    Close,
    Connected,
    Disconnected,
    Effect,
    Event,
    Finished,
    Flushed,
    Received,
    Reply,
    Unanswered,
    Woken,
)
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.wire.apis import ApiKey
from andiron.wire.header import decode_request_header
from andiron.wire.primitives import MalformedMessage

log = logging.getLogger(__name__)


_new_effect = tuple.__new__  # makes a Reply in half the time that calling the class takes


class Caller(NamedTuple):
    """The other end of a connection: where it came in, from where, and what is served there."""

    listener: str
    host: str
    scope: Scope
    routes: dict[int, Route]


class Node:
    """One node: a broker and a controller behind `step`."""

    def __init__(self, settings: NodeSettings, disk: Disk, seed: int) -> None:
        advertised = {
            scope: {row.api: row.advertised for row in HANDLERS.values() if scope in row.scope}
            for scope in (Scope.BROKER, Scope.CONTROLLER)
        }
        self.broker = Broker(settings, disk, seed, advertised)
        self._waiting, self._step = self.broker.waiting, self.broker.step
        self._long = LongWork()
        self._failures = 0  # bugs that showed themselves where nobody was there to be told
        self.malformed = 0  # frames that were no request
        self.errors: dict[tuple[int, int], int] = {}  # by API and error: answers that are one, and hang-ups
        self._routes: dict[Scope, dict[int, Route]] = {Scope.BROKER: {}, Scope.CONTROLLER: {}}
        self._shortcuts: dict[int, Shortcut] = {}  # of the connections that produce
        self._callers: dict[int, Caller] = {}
        self._nowhere = Caller("", "", Scope.BROKER, self._routes[Scope.BROKER])
        self._steps: dict[type, Callable[[Any, Millis], list[Effect]]] = {
            Received: self._received,
            Connected: self._connected,
            Disconnected: self._disconnected,
            Answered: self._answered,
            Unanswered: self._answered,
            Flushed: self._flushed,
            Finished: self._finished,
            Woken: self._woken,
        }

    @property
    def ready(self) -> bool:
        """Whether the node has its metadata and may be shown to clients."""
        return self.broker.ready

    @property
    def failures(self) -> int:
        """Bugs that showed themselves where nobody was there to be told, or in a long request."""
        return self._failures + self._long.failures

    @property
    def follower_connections(self) -> Collection[int]:
        """The connections on which followers fetch, whenever it is asked."""
        return self.broker.follower_states.connections

    def start(self, now: Millis) -> list[Effect]:
        """Open what is on disk and stand for election; serve once `ready`."""
        self.broker.start(now)
        return self.broker.end_step()

    def step(self, event: Event, now: Millis) -> list[Effect]:
        """Take in one event; return what the edge must now do about it."""
        self._step.now = now
        effects = self._steps[type(event)](event, now)
        if self._step.has_facts:
            effects += self.broker.end_step()
        return effects

    def next_deadline(self) -> Millis:
        """When to come back with a Woken if nothing happens before: at once while there is long work."""
        if self._long:
            return self._step.now
        return min(self._waiting.next_deadline(), self.broker.next_deadline())

    def leave(self, now: Millis) -> list[Effect]:
        """Ask to be let go, before `stop`; others take over what is led here until `has_left`."""
        self._step.now = now
        self.broker.leave(now)
        return self.broker.end_step()

    def resign(self, now: Millis) -> list[Effect]:
        """Give up the lead of the metadata, if this node has it."""
        self._step.now = now
        self.broker.raft.stop(now)
        return self.broker.end_step()

    @property
    def is_settled(self) -> bool:
        """Whether the node was ready at some time, and `stop` has something to bring to the disk."""
        return self.broker.is_settled

    @property
    def has_left(self) -> bool:
        return self.broker.lifecycle.has_left

    @property
    def broken(self) -> str | None:
        """Why the node cannot go on and should end, for a start that puts it right."""
        return self.broker.metadata.broken or self.broker.raft.broken

    @property
    def controller_listeners(self) -> tuple[str, ...]:
        """The doors that open before the node is ready."""
        return self.broker.settings.controller_listeners

    @property
    def brokers_listener(self) -> str:
        """The door that is kept open for other brokers, if they have one of their own."""
        settings = self.broker.settings
        clients = [each for each in settings.listeners if each[0] not in settings.controller_listeners]
        return settings.inter_broker_listener if len(clients) > 1 else ""

    @property
    def patience_ms(self) -> int:
        """How long the node tries to get into a cluster that will not have it."""
        return self.broker.settings.membership.initial_broker_registration_timeout_ms

    @property
    def trouble(self) -> str | None:
        """Why its cluster will not have it."""
        return self.broker.raft.trouble or self.broker.lifecycle.trouble

    @property
    def waits_for(self) -> str:
        """What a node that is not ready waits for, for people to read."""
        if self.trouble is not None:
            return self.trouble
        raft = self.broker.raft
        if raft.leader < 0:
            known = [f"{node} at {raft.address_of(node)}" for node in raft.quorum.voters]
            asked = ", ".join(known or map(str, self.broker.settings.bootstrap_controllers))
            return f"no majority of the controllers has elected a leader (voters: {asked})"
        return f"controller {raft.leader} has not let it in"

    def stop(self, now: Millis) -> bool:
        """Bring everything to the disk and mark the shutdown as a clean one; whether that could be done."""
        return self.broker.stop(now)

    # ── events ───────────────────────────────────────────────────────────────────────

    def _connected(self, event: Connected, now: Millis) -> list[Effect]:
        is_controllers = event.listener in self.broker.settings.controller_listeners
        scope = Scope.CONTROLLER if is_controllers else Scope.BROKER
        self._callers[event.conn] = Caller(event.listener, event.host, scope, self._routes[scope])
        return []

    def _disconnected(self, event: Disconnected, now: Millis) -> list[Effect]:
        self._callers.pop(event.conn, None)
        self._shortcuts.pop(event.conn, None)
        self._waiting.forget(event.conn)
        self._long.forget(event.conn)
        self.broker.disconnected(event.conn, now)
        return []

    def _flushed(self, event: Flushed, now: Millis) -> list[Effect]:
        self.broker.flushed(event, now)
        return []

    def _answered(self, event: Answered | Unanswered, now: Millis) -> list[Effect]:
        self.broker.answered(event, now)
        return []

    def _finished(self, event: Finished, now: Millis) -> list[Effect]:
        self.broker.finished(event, now)
        return []

    def _woken(self, event: Woken, now: Millis) -> list[Effect]:
        effects = self._long.go_on(partial(self._received, now=now)) if self._long else []
        effects += self._waiting.expire(now)
        try:
            self.broker.tick(now)
        except Exception:  # a bug; those who have waited long enough are told all the same
            self._failures += 1
            log.exception(Line("Node could not do all that was due: a bug in Andiron; please report it"))
        return effects

    def _received(self, event: Received, now: Millis) -> list[Effect]:
        conn, ticket, frame = event
        if self._long.is_before(conn):
            self._long.hold(event)
            return []
        shortcut = self._shortcuts.get(conn)
        if shortcut is not None:
            known = shortcut.take(frame, self.broker, now)
            if known is not None:
                return [_new_effect(Reply, (conn, ticket, [known]))]
        caller = self._callers.get(conn, self._nowhere)
        try:
            key, version, correlation, client_id, position = decode_request_header(frame, 0, len(frame))
            route = caller.routes.get(key << 16 | version & 0xFFFF)
            if route is None:
                route = self._route(key, version, caller.scope)
                if route is None:
                    return [unserved(conn, ticket, key, version, correlation)]
            if len(frame) > route.slices_from:
                asked = Request(bytes(frame[position:]), version, client_id, conn, *caller[:2], now)
                work = route.respond_in_slices(self.broker, asked)
                return self._begin(conn, ticket, route, correlation, work)
            body, _ = route.decode(frame, position, len(frame))
        except MalformedMessage as error:
            self.malformed += 1
            return [Close(conn, f"not a request: {error}")]
        request = Request(body, version, client_id, conn, caller.listener, caller.host, now)
        try:
            response = route.handle(self.broker, request)
        except ProtocolError as error:
            self._count_error(key, error.code.number)
            return [Close(conn, str(error))]
        if type(response) is Wait:
            return self._waiting.admit(
                response, conn, partial(self._answer, conn, ticket, route, correlation)
            )
        if response is None:
            return [Reply(conn, ticket, None)]
        if in_slices(response):
            return self._begin(conn, ticket, route, correlation, response)
        if key == ApiKey.PRODUCE:
            self._find_shortcut(frame, request)
        elif route.tells_errors and response.error_code:
            self._count_error(key, response.error_code)
        return [Reply(conn, ticket, route.parts(correlation, response))]

    def _begin(
        self, conn: int, ticket: int, route: Route, correlation: int, work: InSlices[Any]
    ) -> list[Effect]:
        return self._long.begin(conn, self._in_slices(conn, ticket, route, correlation, work))

    def _in_slices(
        self, conn: int, ticket: int, route: Route, correlation: int, work: InSlices[Any]
    ) -> InSlices[list[Effect]]:
        """What comes of a request that may take more than a step: an answer, or a wait for one."""
        try:
            response = yield from work
            if type(response) is Wait:
                answer = partial(self._answer, conn, ticket, route, correlation, at_length=True)
                return self._waiting.admit(response, conn, answer)
            if response is None:
                return [Reply(conn, ticket, None)]
            if route.tells_errors and response.error_code:
                self._count_error(route.key, response.error_code)
            return [Reply(conn, ticket, (yield from route.parts_in_slices(correlation, response)))]
        except MalformedMessage as error:
            self.malformed += 1
            return [Close(conn, f"not a request: {error}")]
        except ProtocolError as error:
            self._count_error(route.key, error.code.number)
            return [Close(conn, str(error))]

    def _answer(
        self,
        conn: int,
        ticket: int,
        route: Route,
        correlation: int,
        respond: Callable[[], Any],
        at_length: bool = False,
    ) -> list[Effect]:
        """What comes of a wait: an answer, or a further wait. One that fails hangs up, with the reason."""
        try:
            response = respond()
            if type(response) is Wait:
                answer = partial(self._answer, conn, ticket, route, correlation, at_length=at_length)
                return self._waiting.admit(response, conn, answer)
            if at_length or in_slices(response):
                work = response if in_slices(response) else nothing_before(response)
                return self._begin(conn, ticket, route, correlation, work)
            if route.tells_errors and response.error_code:
                self._count_error(route.key, response.error_code)
            return [Reply(conn, ticket, None if response is None else route.parts(correlation, response))]
        except ProtocolError as error:
            self._count_error(route.key, error.code.number)
            return [Close(conn, str(error))]

    def _count_error(self, key: int, number: int) -> None:
        self.errors[key, number] = self.errors.get((key, number), 0) + 1

    def _find_shortcut(self, frame: memoryview, request: Request[Any]) -> None:
        try:
            shortcut = Shortcut.after(frame, request, self.broker)
        except ProtocolError:
            return  # it was refused
        if shortcut is not None:
            self._shortcuts[request.conn] = shortcut

    def _route(self, key: int, version: int, scope: Scope) -> Route | None:
        """The way of an API in one version, made when it is first asked for; None if it is not served there."""
        handler = HANDLERS.get(key)
        if handler is None or scope not in handler.scope or not handler.serves(version):
            return None
        route = self._routes[scope][key << 16 | version] = Route.of(handler, version)
        return route
