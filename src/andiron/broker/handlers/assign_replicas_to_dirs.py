"""AssignReplicasToDirs (key 73), version 0: a broker says in which of its directories its replicas are."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)

API = ApiKey.ASSIGN_REPLICAS_TO_DIRS
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[AssignReplicasToDirsRequest]) -> Wait:
    return broker.decide_here(request.body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> AssignReplicasToDirsResponse:
    return AssignReplicasToDirsResponse(error_code=error.code.number)
