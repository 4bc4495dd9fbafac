"""ListPartitionReassignments (key 46), version 0: which partitions are being moved.

The controller decides, wherever it is.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

API = ApiKey.LIST_PARTITION_REASSIGNMENTS
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[ListPartitionReassignmentsRequest]) -> Wait:
    body = request.body
    return broker.pass_on(request, body.timeout_ms).or_else(_refusal)


def _refusal(error: ProtocolError) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_code=error.code.number, error_message=error.detail)
