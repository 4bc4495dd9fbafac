"""JoinGroup (key 11), versions 0-9: a member enters a rebalance of its classic group.

The answer waits until all members are in, or have had their time.

Read next: groups/classic.py.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

API = ApiKey.JOIN_GROUP
SERVED = ADVERTISED = (0, 9)


def handle(broker: Broker, request: Request[JoinGroupRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(partial(_refusal, request))


def _refusal(request: Request[JoinGroupRequest], error: ProtocolError) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error.code.number, member_id=request.body.member_id)
