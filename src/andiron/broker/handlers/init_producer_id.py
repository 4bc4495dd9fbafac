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

NO_PRODUCER_EPOCH = -1


def handle(broker: Broker, request: Request[InitProducerIdRequest]) -> InitProducerIdResponse | Wait:
    body = request.body
    if body.transactional_id == "" or (body.producer_id < 0) != (body.producer_epoch < 0):
        return _refusal(ErrorCode.INVALID_REQUEST)
    if body.transactional_id is not None:
        return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    given = broker.next_producer_id(request.now, lambda id: InitProducerIdResponse(producer_id=id))
    return given.or_else(lambda error: _refusal(error.code)) if isinstance(given, Wait) else given


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code.number, producer_epoch=NO_PRODUCER_EPOCH)
