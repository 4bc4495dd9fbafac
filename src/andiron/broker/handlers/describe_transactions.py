"""DescribeTransactions (key 65), version 0: how transactions stand, as their coordinator knows it."""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.request import Request
from andiron.broker.waiting import Wait
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


def handle(broker: Broker, request: Request[DescribeTransactionsRequest]) -> Wait:
    answers = Wait.all(
        [
            broker.transactions.run(id, DescribeTransaction(id), request.now).or_else(partial(_refusal, id))
            for id in request.body.transactional_ids
        ]
    )
    return answers.and_then(lambda states: DescribeTransactionsResponse(transaction_states=states))


def _refusal(id: str, error: ProtocolError) -> TransactionState:
    return TransactionState(error.code.number, id)
