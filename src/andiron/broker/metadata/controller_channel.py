"""The way of a request to the controller, wherever it is.

    decide(request) ─▶ is the controller here? ── yes ─▶ quorum_controller.py
                                 │ no
                                 ├─ what a broker itself asks ─▶ a call of that API
                                 └─ what a client asked       ─▶ the same request, in an Envelope
          nobody leads, it was the wrong one, the link broke ─▶ a little later, again, until time is up
          another leads before there was an answer           ─▶ at once, again

Whoever asks gets one Wait and never learns how often it took. A request whose answer was lost is asked again, and may
find that it was carried out the first time: a topic that is created twice so is "there already", as in Kafka.

A controller that is only slow is not asked again for a client, who may have deleted a topic, been told so by the second
request, and made it anew when the first one arrives. Who leads in a later epoch can be: what the one before it still
decides is not committed any more.

Read next: handlers/envelope.py, the other end of it.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.metadata.quorum_controller import QuorumController
from andiron.broker.metadata.raft_client import RaftClient
from andiron.broker.node.calls import Calls
from andiron.broker.node.patience import CONTROLLER_CALL_MS, CONTROLLER_RETRY_MS
from andiron.broker.node.request import ForwardedRequest, Request
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address, Millis
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import decoder, encoder
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse

OWN_LANE = "controller"
CLIENTS_LANE = "forwarding"  # what clients ask may take as long as they say, and a heartbeat may not
# Who has asked, as Kafka's controllers want to read it: version 0, type, name, by no token, no tags; and from where.
ANONYMOUS = b"\0\0\x05User\x0aANONYMOUS\0\0"
SOMEWHERE = bytes(4)

# What nodes ask on their own account; each answers an error of its own.
OWN = {
    ApiKey.BROKER_REGISTRATION,
    ApiKey.BROKER_HEARTBEAT,
    ApiKey.ALTER_PARTITION,
    ApiKey.ALLOCATE_PRODUCER_IDS,
    ApiKey.ASSIGN_REPLICAS_TO_DIRS,
    ApiKey.CONTROLLER_REGISTRATION,
}
ELSEWHERE = {ErrorCode.NOT_CONTROLLER, ErrorCode.NETWORK_EXCEPTION}


class ControllerChannel:
    """Asks the controller for a node."""

    def __init__(
        self, raft: RaftClient, controller: QuorumController, calls: Calls, client_id: str, step: Step
    ) -> None:
        self._raft, self._controller = raft, controller
        self._calls, self._client_id, self._step = calls, client_id, step

    def decide(self, request: Any, now: Millis, timeout_ms: int, version: int | None = None) -> Wait:
        """Let the controller decide; the Wait gives its response once that is committed.
        What keeps it from being so is raised when the response is asked for: see Wait.or_else.
        A client's request goes on in the version that it came in, since others have not all of its fields."""
        return self._attempt(request, version, Millis(now + max(0, timeout_ms)), now)

    def decide_here(self, request: Any, now: Millis, timeout_ms: int) -> Wait:
        """Let the controller decide if it is here, and nowhere else."""
        try:
            return self._controller.decide(request, now, timeout_ms)
        except ProtocolError as error:
            return Wait.failed(error)

    def pass_on(self, request: Request[Any], timeout_ms: int) -> Wait:
        """Let the controller decide what a client has asked."""
        if not isinstance(request, ForwardedRequest):
            return self.decide(request.body, request.now, timeout_ms, request.version)

        def look_why(error: ProtocolError) -> None:
            request.not_controller = error.code is ErrorCode.NOT_CONTROLLER
            raise error

        return self.decide_here(request.body, request.now, timeout_ms).or_else(look_why)

    def _attempt(self, request: Any, version: int | None, deadline: Millis, now: Millis) -> Wait:
        if self._controller.is_active:
            asked = self.decide_here(request, now, deadline - now)
        elif (address := self._raft.address_of(self._raft.leader)) is not None:
            asked = self._ask(address, request, version, deadline, now)
        else:
            asked = Wait.failed(ErrorCode.NOT_CONTROLLER.error("no controller is known"))
        return asked.or_else(lambda error: self._again(request, version, deadline, error))

    def _again(self, request: Any, version: int | None, deadline: Millis, error: ProtocolError) -> Wait:
        now = self._step.now
        if error.code not in ELSEWHERE:
            raise error
        if now >= deadline:
            raise ErrorCode.REQUEST_TIMED_OUT.error(f"the controller could not be asked: {error.detail}")

        def attempt() -> Wait:
            return self._attempt(request, version, deadline, self._step.now)

        return Wait((), lambda: False, Millis(min(deadline, now + CONTROLLER_RETRY_MS)), attempt, attempt)

    def _ask(
        self, address: Address, request: Any, version: int | None, deadline: Millis, now: Millis
    ) -> Wait:
        left_ms = max(1, deadline - now)
        if type(request).__api_key__ in OWN:
            return self._calls.ask(address, OWN_LANE, request, min(CONTROLLER_CALL_MS, left_ms)).and_then(
                _checked
            )
        enclosed, key, spoken = self._enclosed(request, version)
        asked = self._calls.ask(
            address, CLIENTS_LANE, EnvelopeRequest(enclosed, ANONYMOUS, SOMEWHERE), left_ms
        )
        return self._unless_deposed(asked.and_then(lambda response: _opened(response, key, spoken)))

    def _unless_deposed(self, asked: Wait) -> Wait:
        """The same wait, which comes to nothing when others have another leader than the one who was asked."""
        raft = self._raft
        epoch = raft.quorum.epoch

        def is_deposed() -> bool:
            return raft.quorum.epoch > epoch and raft.quorum.leader is not None

        def then() -> Any:
            if asked.until():
                return asked.then()
            raise ErrorCode.NOT_CONTROLLER.error("another leads since it was asked")

        return Wait(
            (*asked.watch, raft),
            lambda: asked.until() or is_deposed(),
            asked.deadline,
            then,
            asked.otherwise,
        )

    def _enclosed(self, request: Any, version: int | None) -> tuple[bytes, int, int]:
        api = APIS[type(request).__api_key__]
        version = api.versions[1] if version is None else version
        parts: list[Any] = [encode_request_header(api.key, version, 0, self._client_id)]
        encoder(api.request, version)(request, parts)
        return b"".join(parts), api.key, version


def _checked(response: Any) -> Any:
    if response.error_code == ErrorCode.NOT_CONTROLLER.number:
        raise ErrorCode.NOT_CONTROLLER.error("the node that was asked is not the controller")
    return response


def _opened(response: EnvelopeResponse, key: int, version: int) -> Any:
    """The response in an envelope's answer."""
    if response.error_code:
        raise ErrorCode.of(response.error_code).error("the controller would not take the request")
    frame = memoryview(response.response_data or b"")
    _, position = decode_response_header(frame, 0, len(frame), key, version)
    return decoder(APIS[key].response, version)(frame, position, len(frame))[0]
