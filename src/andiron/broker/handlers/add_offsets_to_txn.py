"""AddOffsetsToTxn (key 25), versions 0-4: a transaction is going to commit offsets of a group.

The group's partition of `__consumer_offsets` is added to it, like any other partition.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.transactions.requests import AddPartitions
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

API = ApiKey.ADD_OFFSETS_TO_TXN
SERVED = ADVERTISED = (0, 4)

BY_CLIENTS_MAX = 3  # the last version of AddPartitionsToTxn that clients send, with errors as for this API


def handle(broker: Broker, request: Request[AddOffsetsToTxnRequest]) -> Wait:
    body = request.body
    place = TopicPartition(broker.groups.shards.topic, broker.groups.partition_of(body.group_id))
    version = min(request.version, BY_CLIENTS_MAX)
    question = AddPartitions(
        body.transactional_id, body.producer_id, body.producer_epoch, (place,), False, version
    )
    asked = broker.transactions.run(body.transactional_id, question, request.now)
    return asked.and_then(lambda outcome: _response(outcome[place])).or_else(_refusal)


def _response(code: ErrorCode) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=code.number)


def _refusal(error: ProtocolError) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=error.code.number)
