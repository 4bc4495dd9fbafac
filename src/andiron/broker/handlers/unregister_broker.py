"""UnregisterBroker (key 64), version 0: forget a broker that is gone for good.

The controller decides, wherever it is.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

API = ApiKey.UNREGISTER_BROKER
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[UnregisterBrokerRequest]) -> Wait:
    return broker.pass_on(request).or_else(_refusal)


def _refusal(error: ProtocolError) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=error.code.number, error_message=error.detail)
