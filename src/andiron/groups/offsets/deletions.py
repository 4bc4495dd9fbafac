"""OffsetDelete and DeleteGroups: offsets and groups are deleted on request.

Offsets that members may go on from are not deleted under them: OffsetDelete refuses topics that the group is
subscribed to, DeleteGroups refuses groups that have members. What is pending in a transaction goes with the rest;
the transaction ends without it.

Read next: expiry.py, which deletes what nobody has asked for any more.
"""

from __future__ import annotations

from andiron.groups.group import CLASSIC, Group, GroupContext
from andiron.groups.offsets.table import GroupOffsets, Offsets, tombstone
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest
from andiron.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

CONSUMERS = "consumer"  # the protocol type of those whose subscriptions can be read
EMPTY = "Empty"


def delete_offsets(
    asked: CoordinatorRequest, context: GroupContext, offsets: Offsets
) -> Decision[GroupRecord]:
    """OffsetDelete: each topic is decided for itself."""
    request: OffsetDeleteRequest = asked.body
    if not request.group_id:
        raise ErrorCode.INVALID_GROUP_ID.error("offsets are deleted of a group with a name")
    group_id = request.group_id
    group, kept = _find(group_id, context, offsets)
    if group is not None and _is_opaque(group):
        raise ErrorCode.NON_EMPTY_GROUP.error(f"what the members of {group_id} read is not known here")
    response, gone = OffsetDeleteResponse(), dict[TopicPartition, None]()
    for topic in request.topics:
        subscribed = group is not None and group.is_subscribed_to(topic.name)
        answers = [
            OffsetDeleteResponsePartition(index, error)
            for index, error in _errors(topic, context, subscribed=subscribed)
        ]
        response.topics.append(OffsetDeleteResponseTopic(topic.name, answers))
        for answer in answers:
            place = TopicPartition(topic.name, answer.partition_index)
            if not answer.error_code and (kept.get(*place) is not None or place in kept.open):
                gone[place] = None
    return Decision(response, [tombstone(group_id, place) for place in gone])


def _is_opaque(group: Group) -> bool:
    """Whether it has members and their subscriptions cannot be read."""
    return group.kind == CLASSIC and group.state != EMPTY and group.protocol_type != CONSUMERS


def _errors(
    topic: OffsetDeleteRequestTopic, context: GroupContext, *, subscribed: bool
) -> list[tuple[int, int]]:
    """Each partition of a topic, with why its offset cannot be deleted; 0 if it can."""
    known = context.topics.named(topic.name)
    count = 0 if known is None else known.partitions
    possible = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC.number if subscribed else 0
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number
    indexes = [partition.partition_index for partition in topic.partitions]
    return [(index, possible if 0 <= index < count else missing) for index in indexes]


def delete_group(asked: CoordinatorRequest, context: GroupContext, offsets: Offsets) -> Decision[GroupRecord]:
    """DeleteGroups, of one group: all its offsets go, and it."""
    request: DeleteGroupsRequest = asked.body
    (group_id,) = request.groups_names
    group, kept = _find(group_id, context, offsets)
    if group is not None:
        group.check_delete()
    records = [tombstone(group_id, place) for place in kept.partitions()]
    if group is not None:
        records += group.tombstones()
    return Decision(DeletableGroupResult(group_id), records)


def _find(group_id: str, context: GroupContext, offsets: Offsets) -> tuple[Group | None, GroupOffsets]:
    """A group, None if it consists of offsets alone, and its offsets; GROUP_ID_NOT_FOUND where there is neither."""
    group, kept = context.groups.get(group_id), offsets.of(group_id)
    if group is None and kept is None:
        raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no group {group_id}")
    return group, kept or GroupOffsets()
