"""What this node asks of other nodes, and who is to hear the answer.

    call(to, lane, body, then) ─▶ Call(token) ─▶ ··· ─▶ Answered(token)   ─▶ then(response)
                                                        Unanswered(token) ─▶ then(None)
    ask(to, lane, body)        ─▶ Wait ─▶ the response, or an error that says why there is none

Every call ends once, with an answer or without; the edge sees to that (edge/peers.py). Nodes of one cluster are of one
kind, so a request goes out in the newest version of its API unless another is named, and nobody is asked what it
speaks.

The law easy to break: an answer is lent for the step; what is kept of its bytes is copied.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.model.effects import Answered, Call, Effect, Part, Unanswered
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Address, Millis
from andiron.model.line import Line
from andiron.wire.apis import APIS
from andiron.wire.codec import decoder, encoder
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.primitives import MalformedMessage

TOKEN_MAX = (1 << 31) - 1

log = logging.getLogger(__name__)

Then = Callable[[Any, Millis], None]  # is given the response, or None if there is none


class _PendingCall(NamedTuple):
    """A call that is under way."""

    to: Address
    key: int
    version: int
    then: Then


class Answer:
    """What became of a question: the key that whoever waits for it watches."""

    __slots__ = ("is_here", "response")

    def __init__(self) -> None:
        self.is_here, self.response = False, None


class Calls:
    """The calls of one node that are under way, by their tokens."""

    def __init__(self, client_id: str, step: Step) -> None:
        self._client_id, self._step = client_id, step
        self._asked: dict[int, _PendingCall] = {}
        self._effects: list[Effect] = []
        self._token = 0

    def call(
        self, to: Address, lane: str, body: Any, timeout_ms: int, then: Then, version: int | None = None
    ) -> None:
        """Ask another node; `then` hears what came of it, in a later step."""
        self._token = self._token % TOKEN_MAX + 1
        api = APIS[type(body).__api_key__]
        version = api.versions[1] if version is None else version
        parts: list[Part] = [encode_request_header(api.key, version, self._token, self._client_id)]
        encoder(api.request, version)(body, parts)
        self._asked[self._token] = _PendingCall(to, api.key, version, then)
        self._effects.append(Call(self._token, to, lane, parts, timeout_ms))
        self._step.has_facts = True

    def ask(self, to: Address, lane: str, body: Any, timeout_ms: int, version: int | None = None) -> Wait:
        """Ask another node; the Wait gives its answer, or raises NETWORK_EXCEPTION. What is kept must be copied."""
        answer = Answer()

        def here(response: Any, now: Millis) -> None:
            answer.is_here, answer.response = True, response
            self._step.touch(answer)

        def given() -> Any:
            if answer.response is None:
                raise ErrorCode.NETWORK_EXCEPTION.error(f"{to} did not answer")
            return answer.response

        self.call(to, lane, body, timeout_ms, here, version)
        return Wait((answer,), lambda: answer.is_here, NEVER, given, given)

    def take_effects(self) -> list[Effect]:
        """What the edge is to send."""
        effects, self._effects = self._effects, []
        return effects

    # ── what comes back ──────────────────────────────────────────────────────────────

    def answered(self, event: Answered, now: Millis) -> None:
        """An answer has come. One that cannot be read is none."""
        asked = self._asked.pop(event.token)
        try:
            response = _decoded(event.frame, asked.key, asked.version)
        except MalformedMessage as error:
            log.warning(Line(
                "Response of {address} to {api} cannot be read and counts as none",
                address=asked.to, api=APIS[asked.key].name, error=error,
            ))  # fmt: skip
            response = None
        asked.then(response, now)

    def unanswered(self, event: Unanswered, now: Millis) -> None:
        """There will be no answer."""
        asked = self._asked.pop(event.token)
        log.debug(Line(
            "Request {api} is not answered",
            api=APIS[asked.key].name, address=asked.to, error=event.reason,
        ))  # fmt: skip
        asked.then(None, now)


def _decoded(frame: memoryview, key: int, version: int) -> Any:
    _, position = decode_response_header(frame, 0, len(frame), key, version)
    return decoder(APIS[key].response, version)(frame, position, len(frame))[0]
