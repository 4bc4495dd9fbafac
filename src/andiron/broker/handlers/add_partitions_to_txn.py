"""AddPartitionsToTxn (key 24), versions 0-5: partitions that a transaction is going to write to.

Up to version 3 a client asks for its own transaction; one partition that does not exist holds up all of
them. From 4 on brokers ask (KIP-890), for several transactions, and may merely want to know (`verify_only`).
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.transactions.requests import AddPartitions
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

API = ApiKey.ADD_PARTITIONS_TO_TXN
SERVED = ADVERTISED = (0, 5)

SEVERAL_SINCE = 4

Outcome = dict[TopicPartition, ErrorCode]


def handle(broker: Broker, request: Request[AddPartitionsToTxnRequest]) -> InSlices[Wait]:
    body = request.body
    if request.version >= SEVERAL_SINCE:
        asked = yield from each(
            body.transactions, lambda one: _add(broker, request, one).settled(), SIZES.transactions
        )
        answers = Wait.all(asked)
        return answers.and_then(lambda outcomes: _several(body, outcomes))
    alone = AddPartitionsToTxnTransaction(
        body.v3_and_below_transactional_id,
        body.v3_and_below_producer_id,
        body.v3_and_below_producer_epoch,
        topics=body.v3_and_below_topics,
    )
    return _add(broker, request, alone).and_then(
        lambda outcome: AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(outcome))
    )


def _add(
    broker: Broker, request: Request[AddPartitionsToTxnRequest], transaction: AddPartitionsToTxnTransaction
) -> Wait:
    """Ask the coordinator of one transaction; the Wait gives an Outcome."""
    named = _partitions(transaction.topics)
    missing = [each for each in named if not broker.image.has_partition(*each)]
    if missing:
        missed = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        others = dict.fromkeys(named, ErrorCode.OPERATION_NOT_ATTEMPTED)
        return Wait.over(lambda: {**others, **dict.fromkeys(missing, missed)})
    question = AddPartitions(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        named,
        transaction.verify_only,
        request.version,
    )
    asked = broker.transactions.run(transaction.transactional_id, question, request.now)
    return asked.or_else(partial(_refusal, named))


def _refusal(named: tuple[TopicPartition, ...], error: ProtocolError) -> Outcome:
    return dict.fromkeys(named, error.code)


def _partitions(topics: list[AddPartitionsToTxnTopic]) -> tuple[TopicPartition, ...]:
    named = (TopicPartition(topic.name, index) for topic in topics for index in topic.partitions)
    return tuple(dict.fromkeys(named))


def _several(body: AddPartitionsToTxnRequest, outcomes: list[Outcome]) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(transaction.transactional_id, _results(outcome))
            for transaction, outcome in zip(body.transactions, outcomes, strict=True)
        ]
    )


def _results(outcome: Outcome) -> list[AddPartitionsToTxnTopicResult]:
    by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for name, code in outcome.items():
        result = AddPartitionsToTxnPartitionResult(name.partition, code.number)
        by_topic.setdefault(name.topic, []).append(result)
    return [AddPartitionsToTxnTopicResult(topic, results) for topic, results in by_topic.items()]
