"""BrokerRegistration (key 62), versions 0-4: a broker that has started registers with the controller (KIP-631)."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse

API = ApiKey.BROKER_REGISTRATION
SERVED = ADVERTISED = (0, 4)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[BrokerRegistrationRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> BrokerRegistrationResponse:
    return BrokerRegistrationResponse(error_code=error.code.number)
