"""A question to the coordinator of a transaction, wherever it is.

    AddPartitions ─▶ who leads its id's partition of __transaction_state? ── this broker ─▶ its shard
                                                                          └─ another ─▶ AddPartitionsToTxn ─▶ it

Either way the answer is a word on each partition.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.patience import COORDINATOR_CALL_MS
from andiron.broker.node.waiting import Wait
from andiron.controller.image import NO_LEADER
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, NodeId, TopicPartition
from andiron.transactions.requests import AddPartitions
from andiron.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

LANE = "transactions"

Outcome = dict[TopicPartition, ErrorCode]


def ask_coordinator(broker: Broker, question: AddPartitions, now: Millis) -> Wait:
    """Ask; the Wait gives an Outcome, or raises what kept the coordinator from answering."""
    leader = _coordinator(broker, question.transactional_id)
    if leader in (NodeId(broker.settings.node_id), NO_LEADER):
        return broker.transactions.run(question.transactional_id, question, now)
    to = broker.metadata.address_of(leader)
    if to is None:
        return Wait.failed(ErrorCode.COORDINATOR_NOT_AVAILABLE.error(f"broker {leader} is away"))
    asked = broker.calls.ask(to, LANE, _request(question), COORDINATOR_CALL_MS, question.version)
    return asked.and_then(lambda response: _outcome(response, question.partitions))


def _coordinator(broker: Broker, transactional_id: str) -> NodeId:
    """The broker that keeps a transactional id, -1 if there is none for now."""
    topic = broker.image.topics.get(broker.transactions.shards.topic)
    if topic is None:
        return NO_LEADER
    return topic.partitions[broker.transactions.partition_of(transactional_id)].leader


def _request(question: AddPartitions) -> AddPartitionsToTxnRequest:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for name in question.partitions:
        topics.setdefault(name.topic, AddPartitionsToTxnTopic(name.topic)).partitions.append(name.partition)
    return AddPartitionsToTxnRequest(
        [
            AddPartitionsToTxnTransaction(
                question.transactional_id,
                question.producer_id,
                question.producer_epoch,
                question.verify_only,
                list(topics.values()),
            )
        ]
    )


def _outcome(response: AddPartitionsToTxnResponse, partitions: tuple[TopicPartition, ...]) -> Outcome:
    if response.error_code:
        return dict.fromkeys(partitions, ErrorCode.of(response.error_code))
    outcome = dict.fromkeys(partitions, ErrorCode.UNKNOWN_SERVER_ERROR)
    for result in response.results_by_transaction:
        for topic in result.topic_results:
            for said in topic.results_by_partition:
                outcome[TopicPartition(topic.name, said.partition_index)] = ErrorCode.of(
                    said.partition_error_code
                )
    return outcome
