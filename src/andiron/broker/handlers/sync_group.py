"""SyncGroup (key 14), versions 0-5: the leader hands in the assignment, and every member gets its part.

Followers wait until the leader's is in.

Read next: groups/classic/protocol.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

API = ApiKey.SYNC_GROUP
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[SyncGroupRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(_refusal)


def _refusal(error: ProtocolError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code.number)
