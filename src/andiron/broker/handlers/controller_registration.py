"""ControllerRegistration (key 70), version 0: a controller that has started says where it is, and what it knows."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)

API = ApiKey.CONTROLLER_REGISTRATION
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[ControllerRegistrationRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> ControllerRegistrationResponse:
    return ControllerRegistrationResponse(error_code=error.code.number, error_message=error.detail)
