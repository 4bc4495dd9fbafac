"""ConsumerGroupHeartbeat (key 68), versions 0-1: a member of a consumer group joins, stays or leaves (KIP-848).

Differs: an assignment is told until the member has acknowledged it, where Kafka tells it once; and who waits for
partitions of others is told to come again sooner than at the usual interval.

Read next: groups/consumer/protocol.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

API = ApiKey.CONSUMER_GROUP_HEARTBEAT
SERVED = ADVERTISED = (0, 1)


def handle(broker: Broker, request: Request[ConsumerGroupHeartbeatRequest]) -> Wait:
    return broker.groups.run(request.body.group_id, request).or_else(_refusal)


def _refusal(error: ProtocolError) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error.code.number, error_message=error.detail)
