"""OffsetCommit and TxnOffsetCommit: by members, by anyone while a group is empty, inside transactions (KIP-447).

    1. each partition: is it there?       UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID
    2. if one is: may the caller commit?   the group's errors, for the whole request
    3. each of them: is it small enough?   OFFSET_METADATA_TOO_LARGE, or a record

Whoever names only partitions that are not there is not even asked who they are, as in Kafka.

A commit to a group that nobody knows, by somebody who does not claim to be a member, makes it: a group that
consists of offsets alone. No record says so but those of the offsets.

Every record carries the id of its topic, so that the offset is not taken for that of a later topic of the same
name. (Kafka leaves it out in transactions.)

A commit costs what it commits. Nothing here looks at the offsets that are there already.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.groups.group import Caller, CommitCheck, GroupContext
from andiron.groups.offsets.records import NO_EXPIRY, OffsetCommitKey, OffsetCommitValue
from andiron.groups.offsets.table import Offsets
from andiron.groups.records import NO_PRODUCER, GroupRecord
from andiron.groups.sizes import OVERHEAD
from andiron.groups.topics import Topic
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, wall_time
from andiron.model.machine import CoordinatorRequest, Decision, InTransaction
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

IDS_SINCE = 10  # topics are named by id from this version of OffsetCommit on
NOT_FOUND_SINCE = 9  # it has an error for a group that is not there

_TIME_MAX = (1 << 63) - 1
_NO_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number
_NO_ID = ErrorCode.UNKNOWN_TOPIC_ID.number
_TOO_LARGE = ErrorCode.OFFSET_METADATA_TOO_LARGE.number


class _Commit(NamedTuple):
    """What all offsets of one commit have in common."""

    group_id: str
    at: Millis  # by the wall
    expires_at: Millis
    producer_id: int = NO_PRODUCER


class _PartitionCommit(NamedTuple):
    """A partition that exists, the offset to commit for it, and its place in the response."""

    topic: Topic
    partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition
    answer: OffsetCommitResponsePartition | TxnOffsetCommitResponsePartition


def commit(
    asked: CoordinatorRequest, context: GroupContext, offsets: Offsets, now: Millis
) -> Decision[GroupRecord]:
    """OffsetCommit."""
    request: OffsetCommitRequest = asked.body
    response, wanted = OffsetCommitResponse(), list[_PartitionCommit]()
    for topic in request.topics:
        known, error = _find(topic, asked.version, context)
        answers = OffsetCommitResponseTopic(topic.name, topic.topic_id)
        response.topics.append(answers)
        for partition in topic.partitions:
            answer = OffsetCommitResponsePartition(partition.partition_index, error)
            answers.partitions.append(answer)
            if known is not None:
                _add_if_there(wanted, _PartitionCommit(known, partition, answer))
    if not wanted:
        return Decision(response)
    caller = Caller(request.member_id, request.group_instance_id, request.generation_id_or_member_epoch)
    check = _check(request.group_id, caller, context, offsets, asked.version)
    group = context.groups.get(request.group_id)
    if group is not None and caller.member_id:
        group.heard_from(caller.member_id, now)
    at = wall_time(now)
    one = _Commit(request.group_id, at, _expiry(request.retention_time_ms, at))
    return Decision(response, _records(one, wanted, check, context))


def commit_in_transaction(
    asked: CoordinatorRequest, context: GroupContext, offsets: Offsets, now: Millis
) -> Decision[GroupRecord]:
    """TxnOffsetCommit: the records belong to the producer's transaction."""
    request: TxnOffsetCommitRequest = asked.body
    if not request.group_id:
        raise ErrorCode.INVALID_GROUP_ID.error("a transaction commits offsets of a group with a name")
    response, wanted = TxnOffsetCommitResponse(), list[_PartitionCommit]()
    for topic in request.topics:
        known = context.topics.named(topic.name)
        answers = TxnOffsetCommitResponseTopic(topic.name)
        response.topics.append(answers)
        for partition in topic.partitions:
            answer = TxnOffsetCommitResponsePartition(partition.partition_index, _NO_TOPIC)
            answers.partitions.append(answer)
            if known is not None:
                _add_if_there(wanted, _PartitionCommit(known, partition, answer))
    if not wanted:
        return Decision(response)
    caller = Caller(request.member_id, request.group_instance_id, request.generation_id)
    producer = InTransaction(request.producer_id, request.producer_epoch)
    try:
        check = _check(request.group_id, caller, context, offsets, asked.version, transactional=True)
        one = _Commit(request.group_id, wall_time(now), Millis(NO_EXPIRY), producer.producer_id)
        records = _records(one, wanted, check, context)
    except ProtocolError as error:
        if error.code is ErrorCode.STALE_MEMBER_EPOCH:  # an error that producers do not know
            raise ErrorCode.ILLEGAL_GENERATION.error(error.detail) from error
        raise
    return Decision(response, records, transaction=producer)


def _find(topic: OffsetCommitRequestTopic, version: int, context: GroupContext) -> tuple[Topic | None, int]:
    """A topic by what the request calls it by, and what to answer unless its partitions turn out to be there."""
    if version < IDS_SINCE:
        return context.topics.named(topic.name), _NO_TOPIC
    known = context.topics.identified(topic.topic_id)
    return known, _NO_ID if known is None else _NO_TOPIC


def _add_if_there(wanted: list[_PartitionCommit], one: _PartitionCommit) -> None:
    """Commit what is said of a partition, if the topic has it; else its answer stays what it is."""
    if 0 <= one.partition.partition_index < one.topic.partitions:
        one.answer.error_code = 0
        wanted.append(one)


def _check(
    group_id: str,
    caller: Caller,
    context: GroupContext,
    offsets: Offsets,
    version: int,
    *,
    transactional: bool = False,
) -> CommitCheck | None:
    """Raise if the caller may not commit at all; what to ask about each partition, if that matters."""
    group = context.groups.get(group_id)
    if group is not None:
        return group.check_commit(caller, transactional=transactional, version=version)
    if caller.epoch < 0:
        return None
    if group_id in offsets:
        raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"group {group_id} has no members")
    if transactional or version < NOT_FOUND_SINCE:
        raise ErrorCode.ILLEGAL_GENERATION.error(f"there is no group {group_id}")
    raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no group {group_id}")


def _expiry(retention_time_ms: int, now: Millis) -> Millis:
    if retention_time_ms == NO_EXPIRY:
        return Millis(NO_EXPIRY)
    return Millis(min(now + retention_time_ms, _TIME_MAX))


def _records(
    commit: _Commit, wanted: list[_PartitionCommit], check: CommitCheck | None, context: GroupContext
) -> list[GroupRecord]:
    """A record for each offset; those that are too large to keep are told so."""
    group_id, now, expires_at, producer_id = commit
    records, length_max = list[GroupRecord](), context.settings.offset_metadata_max_bytes
    size = 0
    for topic, partition, answer in wanted:
        index, metadata = partition.partition_index, partition.committed_metadata or ""
        if len(metadata) > length_max:
            answer.error_code = _TOO_LARGE
            continue
        if check is not None:
            check(topic.id, index)
        value = OffsetCommitValue(
            partition.committed_offset, partition.committed_leader_epoch, metadata, now, expires_at, topic.id
        )
        records.append(GroupRecord(OffsetCommitKey(group_id, topic.name, index), value, producer_id))
        size += OVERHEAD + len(group_id) + len(topic.name) + len(metadata)
    if size > context.batch_max():
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
            f"the offsets of {len(records)} partitions take {size} bytes, and a batch of __consumer_offsets holds"
            f" {context.batch_max()}"
        )
    return records
