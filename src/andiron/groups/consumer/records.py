"""A consumer group in the log: which records a change is made of.

    a member came           5 member · [16 pattern] · 3 epoch · 7 target of each whose target moved · 6 target epoch
                            · 8 current
    a member went           8 · 7 · 5 (none) · [16 pattern (none)] · 3 epoch
    a static one came back  8 · 7 · 5 (none) of its former self · 5 · 7 · 8 of the new one · then as for a member

Each kind is a key of its own, so after compaction there is one record for each thing that is still true. Tombstones
take a member away in the reverse order of how it came.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.groups.assignors.spec import Partitions
from andiron.groups.consumer.member import Member
from andiron.groups.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    GroupRecord,
    TargetTopicPartitions,
)
from andiron.model.ids import Millis


def member_record(group_id: str, member: Member) -> GroupRecord:
    """ConsumerGroupMemberMetadata: the member's subscription, timeouts and identity."""
    return GroupRecord(ConsumerGroupMemberMetadataKey(group_id, member.id), member.profile.value())


def current_record(group_id: str, member: Member) -> GroupRecord:
    """ConsumerGroupCurrentMemberAssignment: the member's epoch and the partitions it holds."""
    return GroupRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id, member.id), member.value())


def target_record(group_id: str, member_id: str, target: Partitions) -> GroupRecord:
    """ConsumerGroupTargetAssignmentMember: the partitions that the member is to hold."""
    topics = [TargetTopicPartitions(topic, list(share)) for topic, share in target.items()]
    return GroupRecord(
        ConsumerGroupTargetAssignmentMemberKey(group_id, member_id),
        ConsumerGroupTargetAssignmentMemberValue(topics),
    )


def target_epoch_record(group_id: str, epoch: int, now: Millis) -> GroupRecord:
    """ConsumerGroupTargetAssignmentMetadata: the target assignment is that of this epoch."""
    return GroupRecord(
        ConsumerGroupTargetAssignmentMetadataKey(group_id),
        ConsumerGroupTargetAssignmentMetadataValue(epoch, now),
    )


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> GroupRecord:
    """ConsumerGroupMetadata: a new group epoch, since members, subscriptions or topics have changed."""
    return GroupRecord(ConsumerGroupMetadataKey(group_id), ConsumerGroupMetadataValue(epoch, metadata_hash))


def pattern_record(group_id: str, pattern: str, topics: list[str], version: int, now: Millis) -> GroupRecord:
    """ConsumerGroupRegularExpression: the topics that a pattern matches."""
    return GroupRecord(
        ConsumerGroupRegularExpressionKey(group_id, pattern),
        ConsumerGroupRegularExpressionValue(topics, version, now),
    )


def pattern_tombstone(group_id: str, pattern: str) -> GroupRecord:
    """Nobody uses the pattern any more."""
    return GroupRecord(ConsumerGroupRegularExpressionKey(group_id, pattern), None)


def partition_metadata_tombstone(group_id: str) -> GroupRecord:
    """Deletes ConsumerGroupPartitionMetadata, in which brokers before 4.1 kept what the metadata hash tells now."""
    return GroupRecord(ConsumerGroupPartitionMetadataKey(group_id), None)


def member_tombstones(group_id: str, member_id: str) -> list[GroupRecord]:
    """The member is gone."""
    return [
        GroupRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        GroupRecord(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None),
        GroupRecord(ConsumerGroupMemberMetadataKey(group_id, member_id), None),
    ]


def group_tombstones(group_id: str, member_ids: Iterable[str], patterns: Iterable[str]) -> list[GroupRecord]:
    """The group is gone, with all its members."""
    members = list(member_ids)
    return [
        *(GroupRecord(ConsumerGroupCurrentMemberAssignmentKey(group_id, each), None) for each in members),
        *(GroupRecord(ConsumerGroupTargetAssignmentMemberKey(group_id, each), None) for each in members),
        GroupRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id), None),
        *(GroupRecord(ConsumerGroupMemberMetadataKey(group_id, each), None) for each in members),
        *(pattern_tombstone(group_id, pattern) for pattern in patterns),
        partition_metadata_tombstone(group_id),
        GroupRecord(ConsumerGroupMetadataKey(group_id), None),
    ]
