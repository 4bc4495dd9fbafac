"""EndTxn (key 26), versions 0-5: a producer commits or aborts its transaction.

The answer leaves when the outcome is committed in the coordinator's log; from then on it stands, and the
markers follow. From version 5 on (KIP-890) the producer goes on under a new epoch, or a new id when epochs run out.

Read next: transactions/ending.py.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.producer_id_allocation import in_transactions
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.transactions.requests import EndTransaction
from andiron.wire.apis import ApiKey
from andiron.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

API = ApiKey.END_TXN
SERVED = ADVERTISED = (0, 5)


def handle(broker: Broker, request: Request[EndTxnRequest]) -> Wait:
    body = request.body
    ending = EndTransaction(
        body.transactional_id, body.producer_id, body.producer_epoch, body.committed, request.version
    )
    try:
        return in_transactions(broker, ending, request.now).or_else(_refusal)
    except ProtocolError as error:
        return Wait.failed(error).or_else(_refusal)


def _refusal(error: ProtocolError) -> EndTxnResponse:
    return EndTxnResponse(error_code=error.code.number)
