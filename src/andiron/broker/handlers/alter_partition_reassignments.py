"""AlterPartitionReassignments (key 45), versions 0-1: put the replicas of partitions on other brokers.

The controller decides, wherever it is.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)

API = ApiKey.ALTER_PARTITION_REASSIGNMENTS
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[AlterPartitionReassignmentsRequest]) -> Wait:
    body = request.body
    return broker.pass_on(request, body.timeout_ms).or_else(_refusal)


def _refusal(error: ProtocolError) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(error_code=error.code.number, error_message=error.detail)
