"""ListTransactions (key 66), versions 0-2: the transactions that this broker coordinates.

A client that wants all of a cluster asks every broker.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices, nothing_before
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

API = ApiKey.LIST_TRANSACTIONS
SERVED = ADVERTISED = (0, 2)


def handle(broker: Broker, request: Request[ListTransactionsRequest]) -> InSlices[Wait]:
    asked = yield from broker.transactions.run_on_all(request.body, request.now)
    return asked.and_then(_response).or_else(_refusal)


def _response(answers: list[ListTransactionsResponse]) -> InSlices[ListTransactionsResponse]:
    response = ListTransactionsResponse(
        unknown_state_filters=answers[0].unknown_state_filters if answers else [],
        transaction_states=[state for answer in answers for state in answer.transaction_states],
    )
    return nothing_before(response)


def _refusal(error: ProtocolError) -> ListTransactionsResponse:
    return ListTransactionsResponse(error_code=error.code.number)
