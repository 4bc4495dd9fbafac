"""DescribeTransactions (key 65), version 0: how transactions stand, as their coordinator knows it."""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ProtocolError
from andiron.transactions.requests import DescribeTransaction
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)

API = ApiKey.DESCRIBE_TRANSACTIONS
SERVED = ADVERTISED = (0, 0)


def handle(broker: Broker, request: Request[DescribeTransactionsRequest]) -> InSlices[Wait]:
    named = dict.fromkeys(request.body.transactional_ids)
    answers = Wait.all((yield from each(named, partial(_ask, broker, request), SIZES.transactions)))
    return answers.and_then(lambda states: DescribeTransactionsResponse(transaction_states=states))


def _ask(broker: Broker, request: Request[DescribeTransactionsRequest], id: str) -> TransactionState | Wait:
    asked = broker.transactions.run(id, DescribeTransaction(id), request.now)
    answer: TransactionState | Wait = asked.or_else(partial(_refusal, id)).settled()
    return answer


def _refusal(id: str, error: ProtocolError) -> TransactionState:
    return TransactionState(error.code.number, id)
