"""ElectLeaders (key 43), versions 0-2: elect the preferred replica, or an unclean leader (KIP-460).

The controller decides, wherever it is.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse

API = ApiKey.ELECT_LEADERS
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[ElectLeadersRequest]) -> Wait:
    body = request.body
    return broker.pass_on(request, body.timeout_ms).or_else(_refusal)


def _refusal(error: ProtocolError) -> ElectLeadersResponse:
    return ElectLeadersResponse(error_code=error.code.number)
