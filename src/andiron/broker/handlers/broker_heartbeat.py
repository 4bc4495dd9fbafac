"""BrokerHeartbeat (key 63), versions 0-2: a broker is alive, and tells its metadata offset (KIP-631).

Who says that it has read what it has never fetched is not believed, and stays fenced: nobody is shown to clients who
does not follow the metadata. Kafka believes it.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ProtocolError
from andiron.model.ids import NodeId
from andiron.wire.apis import ApiKey
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

API = ApiKey.BROKER_HEARTBEAT
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.CONTROLLER

NOTHING_READ = -1


def handle(broker: Broker, request: Request[BrokerHeartbeatRequest]) -> Wait:
    body = request.body
    if not broker.raft.is_followed_by(NodeId(body.broker_id)):
        body.current_metadata_offset = NOTHING_READ
    return broker.decide_here(body, request.now).or_else(_refusal)


def _refusal(error: ProtocolError) -> BrokerHeartbeatResponse:
    return BrokerHeartbeatResponse(error_code=error.code.number)
