"""LeaveGroup (key 13), versions 0-5: members leave their classic group.

From version 3 on several at once, each by its id or its instance id (KIP-345); from 5 on with a reason (KIP-800),
which is read and not used.

Read next: groups/classic/protocol.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse

API = ApiKey.LEAVE_GROUP
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[LeaveGroupRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(_refusal)


def _refusal(error: ProtocolError) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=error.code.number)
