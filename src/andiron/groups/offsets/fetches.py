"""OffsetFetch: the committed offsets of a group; a request for several (KIP-709) comes here group by group.

All that a group has committed, or some partitions of it; where nothing is, the offset is -1. Whoever must not go
on from an offset that a transaction may yet replace asks for stable ones, and is told UNSTABLE_OFFSET_COMMIT
where one is pending: it asks again until the transaction has ended.

From version 10 on topics go by id. An offset that was committed to a topic of the same name but another id is
that of a topic which is gone, and is not given out.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping

from andiron.groups.group import Caller, GroupContext
from andiron.groups.offsets.table import Committed, GroupOffsets, Offsets
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

IDS_SINCE = 10
SLICE = 2_000  # offsets that one slice of a large answer encodes

_NONE = -1
_NO_ID = ErrorCode.UNKNOWN_TOPIC_ID.number
_UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT.number
_NOTHING = GroupOffsets()


def fetch(asked: CoordinatorRequest, context: GroupContext, offsets: Offsets) -> Decision[GroupRecord]:
    """The offsets of the one group that the request is for."""
    request: OffsetFetchRequest = asked.body
    (wanted,) = request.groups
    group = context.groups.get(wanted.group_id)
    if group is not None:
        group.check_fetch(Caller(wanted.member_id or "", None, wanted.member_epoch))
    kept = offsets.of(wanted.group_id) or _NOTHING
    by_id = asked.version >= IDS_SINCE
    if wanted.topics is None:
        return Decision(_all(wanted.group_id, kept, by_id, request.require_stable, context))
    topics = [_some(topic, kept, by_id, request.require_stable, context) for topic in wanted.topics]
    return Decision(OffsetFetchResponseGroup(wanted.group_id, topics))


def _all(
    group_id: str, kept: GroupOffsets, by_id: bool, stable: bool, context: GroupContext
) -> OffsetFetchResponseGroup | Generator[None, None, OffsetFetchResponseGroup]:
    """Whatever a group has committed as of now; by id only what has one. It may be a hundred thousand offsets: those
    are put into words some at a time."""
    pending = frozenset(kept.open if stable else ())
    if sum(map(len, kept.committed.values())) <= SLICE:
        topics = [_topic(*each, pending, by_id, context) for each in kept.committed.items()]
        return OffsetFetchResponseGroup(group_id, [topic for topic in topics if topic is not None])
    committed = {name: dict(partitions) for name, partitions in kept.committed.items()}
    return _in_slices(group_id, committed, pending, by_id, context)


def _in_slices(
    group_id: str,
    committed: Mapping[str, Mapping[int, Committed]],
    pending: Container[TopicPartition],
    by_id: bool,
    context: GroupContext,
) -> Generator[None, None, OffsetFetchResponseGroup]:
    group, since = OffsetFetchResponseGroup(group_id), 0
    for name, partitions in committed.items():
        topic = _topic(name, partitions, pending, by_id, context)
        if topic is not None:
            group.topics.append(topic)
        since += 1 + len(partitions)
        if since >= SLICE:
            since = 0
            yield
    return group


def _topic(
    name: str,
    partitions: Mapping[int, Committed],
    pending: Container[TopicPartition],
    by_id: bool,
    context: GroupContext,
) -> OffsetFetchResponseTopics | None:
    known = context.topics.named(name) if by_id else None
    if by_id and known is None:
        return None
    answers = [
        _unstable(partition) if TopicPartition(name, partition) in pending else _answer(partition, committed)
        for partition, committed in partitions.items()
    ]
    return OffsetFetchResponseTopics(name, NO_TOPIC_ID if known is None else known.id, answers)


def _some(
    topic: OffsetFetchRequestTopics, kept: GroupOffsets, by_id: bool, stable: bool, context: GroupContext
) -> OffsetFetchResponseTopics:
    name, topic_id = topic.name, topic.topic_id
    if by_id:
        known = context.topics.identified(topic_id)
        if known is None:
            unknown = [_answer(partition, None, _NO_ID) for partition in topic.partition_indexes]
            return OffsetFetchResponseTopics(name, topic_id, unknown)
        name = known.name
    answers = [
        _unstable(partition)
        if _waits(kept, name, partition, stable)
        else _answer(partition, _of_topic(topic_id, kept.get(name, partition)))
        for partition in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(name, topic_id, answers)


def _waits(kept: GroupOffsets, topic: str, partition: int, stable: bool) -> bool:
    return stable and TopicPartition(topic, partition) in kept.open


def _of_topic(topic_id: bytes, committed: Committed | None) -> Committed | None:
    if committed is None or NO_TOPIC_ID in (topic_id, committed.topic_id):
        return committed
    return committed if committed.topic_id == topic_id else None


def _answer(
    partition: int, committed: Committed | None, error_code: int = 0
) -> OffsetFetchResponsePartitions:
    if committed is None:
        return OffsetFetchResponsePartitions(partition, _NONE, _NONE, "", error_code)
    return OffsetFetchResponsePartitions(
        partition, committed.offset, committed.leader_epoch, committed.metadata, error_code
    )


def _unstable(partition: int) -> OffsetFetchResponsePartitions:
    return _answer(partition, None, _UNSTABLE)
