"""InitProducerId (key 22), versions 0-5: an id for an idempotent producer.

Ids come from a block that the controller has set aside for this broker, so that no two
producers of a cluster ever share one, across restarts too. Transactional ids need a
coordinator, which this broker does not have yet.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

API = ApiKey.INIT_PRODUCER_ID
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[InitProducerIdRequest]) -> InitProducerIdResponse | Wait:
    if request.body.transactional_id is not None:
        return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE.number)
    return broker.next_producer_id(request.now, lambda id: InitProducerIdResponse(producer_id=id))
