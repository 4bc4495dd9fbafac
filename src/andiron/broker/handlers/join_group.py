"""JoinGroup (key 11), versions 0-9: a member enters a rebalance of its classic group.

The answer waits until all members are in, or have had their time. Version 4 sends newcomers back with an id (KIP-394),
5 has static members (KIP-345), 8 a reason (KIP-800), 9 skip_assignment (KIP-814). From version 7 on a refusal names no
protocol, where older ones have an empty name.

Read next: groups/classic/protocol.py.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

API = ApiKey.JOIN_GROUP
SERVED = ADVERTISED = (0, 9)

NO_PROTOCOL_SINCE = 7


def handle(broker: Broker, request: Request[JoinGroupRequest]) -> Wait:
    asked = broker.groups.run(request.body.group_id, request).or_else(partial(_refusal, request.body))
    return asked.and_then(partial(_as_versions_have_it, request.version))


def _refusal(body: JoinGroupRequest, error: ProtocolError) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error.code.number, member_id=body.member_id)


def _as_versions_have_it(version: int, response: JoinGroupResponse) -> JoinGroupResponse:
    if response.error_code and version >= NO_PROTOCOL_SINCE:
        response.protocol_name = None
    return response
