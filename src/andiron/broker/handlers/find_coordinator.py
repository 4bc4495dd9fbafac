"""FindCoordinator (key 10), versions 0-6: which broker keeps a group or a transactional id.

Neither groups nor transactions are kept here yet, so the truth is that no coordinator is
available. Clients that assign partitions themselves ask all the same and go on without.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

API = ApiKey.FIND_COORDINATOR
SERVED = ADVERTISED = (0, 6)

GROUP, TRANSACTION = 0, 1


def handle(broker: Broker, request: Request[FindCoordinatorRequest]) -> FindCoordinatorResponse:
    body = request.body
    if body.key_type in (GROUP, TRANSACTION):
        code, reason = ErrorCode.COORDINATOR_NOT_AVAILABLE, "this broker keeps no groups and no transactions"
    else:
        code, reason = ErrorCode.INVALID_REQUEST, f"nothing of type {body.key_type} has a coordinator here"
    return FindCoordinatorResponse(
        error_code=code.number,
        error_message=reason,
        node_id=-1,
        port=-1,
        coordinators=[Coordinator(key, -1, "", -1, code.number, reason) for key in body.coordinator_keys],
    )
