"""AlterPartition (key 56), versions 2-3: a partition's leader proposes another ISR."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse

API = ApiKey.ALTER_PARTITION
SERVED = ADVERTISED = (2, 3)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[AlterPartitionRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> AlterPartitionResponse:
    return AlterPartitionResponse(error_code=error.code.number)
