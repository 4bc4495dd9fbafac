"""DescribeTransactions and ListTransactions (KIP-664): the state of transactional ids, for operators."""

from __future__ import annotations

from collections.abc import Iterable

from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.model.re2.pattern import matching
from andiron.transactions.states import BY_TITLE
from andiron.transactions.transaction import Transaction
from andiron.wire.messages import describe_transactions, list_transactions
from andiron.wire.messages.describe_transactions import TopicData
from andiron.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse


def describe(transactional_id: str, current: Transaction | None) -> describe_transactions.TransactionState:
    """DescribeTransactions: state, producer and partitions of one transactional id."""
    if not transactional_id:
        raise ErrorCode.INVALID_REQUEST.error("the transactional id is empty")
    if current is None:
        raise ErrorCode.TRANSACTIONAL_ID_NOT_FOUND.error(f"there is no {transactional_id!r}")
    topics: dict[str, TopicData] = {}
    for topic, partition in current.partitions:
        if topic not in topics:
            topics[topic] = TopicData(topic)
        topics[topic].partitions.append(partition)
    return describe_transactions.TransactionState(
        transactional_id=current.id,
        transaction_state=current.state.title,
        transaction_timeout_ms=current.timeout_ms,
        transaction_start_time_ms=current.started_at,
        producer_id=current.producer.producer_id,
        producer_epoch=current.producer.epoch,
        topics=list(topics.values()),
    )


def list_them(
    request: ListTransactionsRequest, transactions: Iterable[Transaction], now: Millis
) -> ListTransactionsResponse:
    """ListTransactions: the ids that pass every filter. A filter by states that do not exist lets none through."""
    states = [BY_TITLE[title] for title in request.state_filters if title in BY_TITLE]
    producer_ids = dict.fromkeys(request.producer_id_filters)
    older_ms = request.duration_filter
    found = [
        each
        for each in transactions
        if (not request.state_filters or each.state in states)
        and (not producer_ids or each.producer.producer_id in producer_ids)
        and (older_ms < 0 or now - each.started_at > older_ms)
    ]
    if request.transactional_id_pattern:
        found = matching(request.transactional_id_pattern, found, lambda each: each.id)
    return ListTransactionsResponse(
        unknown_state_filters=[title for title in request.state_filters if title not in BY_TITLE],
        transaction_states=[
            list_transactions.TransactionState(each.id, each.producer.producer_id, each.state.title)
            for each in found
        ],
    )
