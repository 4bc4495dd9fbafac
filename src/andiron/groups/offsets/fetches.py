"""OffsetFetch: how far a group has read.

All that a group has committed, or some partitions of it; where nothing is, the offset is -1. Whoever must not go
on from an offset that a transaction may yet replace asks for stable ones, and is told UNSTABLE_OFFSET_COMMIT
where one is pending: it asks again until the transaction has ended.

From version 10 on topics go by id. An offset that was committed to a topic of the same name but another id is
that of a topic which is gone, and is not given out.
"""

from __future__ import annotations

from andiron.groups.group import Caller, World
from andiron.groups.offsets.table import Committed, GroupOffsets, Offsets
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.model.machine import Asked, Decision
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

IDS_SINCE = 10

_NONE = -1
_NO_ID = ErrorCode.UNKNOWN_TOPIC_ID.number
_UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT.number
_NOTHING = GroupOffsets()


def fetch(asked: Asked, world: World, offsets: Offsets) -> Decision[GroupRecord]:
    """The offsets of the one group that the request is for."""
    request: OffsetFetchRequest = asked.body
    (wanted,) = request.groups
    group = world.groups.get(wanted.group_id)
    if group is not None:
        group.check_fetch(Caller(wanted.member_id or "", None, wanted.member_epoch))
    kept = offsets.of(wanted.group_id) or _NOTHING
    by_id = asked.version >= IDS_SINCE
    if wanted.topics is None:
        topics = _all(kept, by_id, request.require_stable, world)
    else:
        topics = [_some(topic, kept, by_id, request.require_stable, world) for topic in wanted.topics]
    return Decision(OffsetFetchResponseGroup(wanted.group_id, topics))


def _all(kept: GroupOffsets, by_id: bool, stable: bool, world: World) -> list[OffsetFetchResponseTopics]:
    """Whatever a group has committed; by id only what has one."""
    topics = []
    for name, partitions in kept.committed.items():
        known = world.topics.named(name) if by_id else None
        if by_id and known is None:
            continue
        answers = [
            _unstable(partition) if _waits(kept, name, partition, stable) else _answer(partition, committed)
            for partition, committed in partitions.items()
        ]
        topics.append(OffsetFetchResponseTopics(name, NO_TOPIC_ID if known is None else known.id, answers))
    return topics


def _some(
    topic: OffsetFetchRequestTopics, kept: GroupOffsets, by_id: bool, stable: bool, world: World
) -> OffsetFetchResponseTopics:
    name, topic_id = topic.name, topic.topic_id
    if by_id:
        known = world.topics.identified(topic_id)
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
