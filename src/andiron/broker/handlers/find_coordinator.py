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

NONE = ErrorCode.COORDINATOR_NOT_AVAILABLE
REASON = "this broker keeps no groups and no transactions"


def handle(broker: Broker, request: Request[FindCoordinatorRequest]) -> FindCoordinatorResponse:
    keys = request.body.coordinator_keys
    return FindCoordinatorResponse(
        error_code=NONE.number,
        error_message=REASON,
        node_id=-1,
        port=-1,
        coordinators=[Coordinator(key, -1, "", -1, NONE.number, REASON) for key in keys],
    )
