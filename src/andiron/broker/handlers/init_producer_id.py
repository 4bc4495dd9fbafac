"""InitProducerId (key 22), versions 0-6: a producer id and epoch for an idempotent or a transactional producer.

Ids come from a block that the controller has set aside for this broker, so that no two
producers of a cluster ever share one, across restarts too. A transactional producer gets its
identity from the coordinator of its transactional id, which fences whoever had it before (KIP-98).

Read next: transactions/initiation.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.producer_id_allocation import in_transactions, next_producer_id
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.transactions.requests import InitProducer
from andiron.wire.apis import ApiKey
from andiron.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

API = ApiKey.INIT_PRODUCER_ID
SERVED = ADVERTISED = (0, 6)

NO_PRODUCER_EPOCH = -1


def handle(broker: Broker, request: Request[InitProducerIdRequest]) -> InitProducerIdResponse | Wait:
    body = request.body
    if body.transactional_id == "" or (body.producer_id < 0) != (body.producer_epoch < 0):
        return _refusal(ErrorCode.INVALID_REQUEST)
    if body.transactional_id is None:
        given = next_producer_id(broker, request.now, lambda id: InitProducerIdResponse(producer_id=id))
        return given.or_else(_refused) if isinstance(given, Wait) else given
    beginning = InitProducer(
        body.transactional_id,
        body.transaction_timeout_ms,
        body.producer_id,
        body.producer_epoch,
        request.version,
        body.enable_2pc,
        body.keep_prepared_txn,
    )
    try:
        return in_transactions(broker, beginning, request.now).or_else(_refused)
    except ProtocolError as error:
        return _refusal(error.code)


def _refused(error: ProtocolError) -> InitProducerIdResponse:
    return _refusal(error.code)


def _refusal(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code.number, producer_epoch=NO_PRODUCER_EPOCH)
