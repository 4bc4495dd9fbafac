"""AllocateProducerIds (key 67), version 0: a broker needs ids for producers, and gets a block of them."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

API = ApiKey.ALLOCATE_PRODUCER_IDS
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[AllocateProducerIdsRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(error_code=error.code.number)
