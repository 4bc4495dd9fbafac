"""Heartbeat (key 12), versions 0-4: a member of a classic group is there, and hears if it must join again.

While its group is being loaded all is well, as far as a member is told: its session begins after that, and Java's
consumers give up on an answer that says more.

Read next: groups/classic/protocol.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

API = ApiKey.HEARTBEAT
SERVED = ADVERTISED = (0, 4)


def handle(broker: Broker, request: Request[HeartbeatRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(_refusal)


def _refusal(error: ProtocolError) -> HeartbeatResponse:
    if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return HeartbeatResponse()
    return HeartbeatResponse(error_code=error.code.number)
