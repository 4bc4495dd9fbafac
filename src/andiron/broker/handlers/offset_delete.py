"""OffsetDelete (key 47), version 0: a group's committed offsets of topics that it does not subscribe to are deleted."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse

API = ApiKey.OFFSET_DELETE
SERVED = ADVERTISED = (0, 0)


def handle(broker: Broker, request: Request[OffsetDeleteRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(_refusal)


def _refusal(error: ProtocolError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error.code.number)
