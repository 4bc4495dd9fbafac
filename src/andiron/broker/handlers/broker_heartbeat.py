"""BrokerHeartbeat (key 63), versions 0-2: a broker is alive, and says how far it has read the metadata."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.listeners import Scope
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

API = ApiKey.BROKER_HEARTBEAT
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[BrokerHeartbeatRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> BrokerHeartbeatResponse:
    return BrokerHeartbeatResponse(error_code=error.code.number)
