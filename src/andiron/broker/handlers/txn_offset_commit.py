"""TxnOffsetCommit (key 28), versions 0-5: offsets of a group that count once the transaction commits (KIP-447).

The offsets are records of the transaction, in the group's partition, and so that partition must be part
of it: from version 5 on it becomes so with this request, before that a client has sent AddOffsetsToTxn, and
the coordinator of the transaction is asked whether it has.

If none of the partitions is there, nobody needs to be asked; one that is not there hears that in any case.
Clients of versions 0 and 1 do not know that a coordinator may be loading, and are told that there is none yet.

Read next: produce.py, where records of a transaction go the same way.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.coordinators import transaction_admission
from andiron.broker.coordinators.transaction_admission import Outcome, Writer
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Partition
from andiron.broker.replicas.verification_guards import VerificationGuard
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

API = ApiKey.TXN_OFFSET_COMMIT
SERVED = ADVERTISED = (0, 5)

ADDS_SINCE = 5
# Of the transaction's coordinator, of which clients know nothing here: to them the group's has no answer yet.
AWAY = (ErrorCode.NETWORK_EXCEPTION, ErrorCode.NOT_COORDINATOR)
ABORTABLE_SINCE = 4
LOADING_SINCE = 2


def handle(broker: Broker, request: Request[TxnOffsetCommitRequest]) -> Wait:
    body = request.body
    place = TopicPartition(broker.groups.shards.topic, broker.groups.partition_of(body.group_id))
    try:
        begun = _begun(broker, request, place)
    except ProtocolError as error:
        begun = Wait.failed(error)
    return begun.or_else(partial(_refusal, broker, request))


def _begun(broker: Broker, request: Request[TxnOffsetCommitRequest], place: TopicPartition) -> Wait:
    body = request.body
    image, topics = broker.image, body.topics
    if not any(image.has_partition(t.name, p.partition_index) for t in topics for p in t.partitions):
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error("none of the partitions is there")
    if not body.group_id:
        raise ErrorCode.INVALID_GROUP_ID.error("a group has a name")
    shard = broker.groups.shards.shard(place.partition)
    partition = shard.partition
    if not partition.opens_transaction(body.producer_id, body.producer_epoch):
        return broker.groups.run(body.group_id, request)
    guard = partition.guards.begin(body.producer_id, body.producer_epoch)
    writer = Writer(body.transactional_id, body.producer_id, body.producer_epoch)
    adds, abortable = request.version >= ADDS_SINCE, request.version >= ABORTABLE_SINCE
    asked = transaction_admission.ask(
        broker, writer, (place,), adds=adds, abortable=abortable, now=request.now
    )

    def commit(outcome: Outcome) -> Wait:
        if broker.groups.shards.shard(place.partition) is not shard:
            raise ErrorCode.NOT_COORDINATOR.error("the group was coordinated elsewhere in between")
        return _commit(broker, request, partition, guard, outcome[place])

    return asked.and_then(commit)


def _commit(
    broker: Broker, request: Request[TxnOffsetCommitRequest], partition: Partition, guard: VerificationGuard,
    code: ErrorCode,
) -> Wait:  # fmt: skip
    body = request.body
    if code in AWAY:
        raise ErrorCode.COORDINATOR_NOT_AVAILABLE.error("the coordinator of the transaction cannot be asked")
    if code is not ErrorCode.NONE:
        partition.guards.end(body.producer_id, guard)
        raise code.error("the group's partition is not part of the transaction")
    if partition.opens_transaction(body.producer_id, body.producer_epoch):
        partition.guards.check(body.producer_id, guard)
        partition.guards.end(body.producer_id)
    return broker.groups.run(body.group_id, request)


def _refusal(
    broker: Broker, request: Request[TxnOffsetCommitRequest], error: ProtocolError
) -> TxnOffsetCommitResponse:
    code, missing = _told(error.code, request.version), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def refused(topic: str, index: int) -> TxnOffsetCommitResponsePartition:
        there = broker.image.has_partition(topic, index)
        return TxnOffsetCommitResponsePartition(index, (code if there else missing).number)

    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name, [refused(topic.name, each.partition_index) for each in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )


def _told(code: ErrorCode, version: int) -> ErrorCode:
    if code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < LOADING_SINCE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code
