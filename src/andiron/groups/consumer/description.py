"""ConsumerGroupDescribe: a consumer group's state, epochs and members.

A member has in its assignment what it is giving up, too: it may still be reading that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import Member
from andiron.groups.consumer.target_assignment import preferred_assignor
from andiron.groups.topics import Topics
from andiron.wire.messages.consumer_group_describe import Assignment, DescribedGroup, TopicPartitions
from andiron.wire.messages.consumer_group_describe import Member as DescribedMember

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def described(group: ConsumerGroup, topics: Topics, assignors: Sequence[str]) -> DescribedGroup:
    """The group as it is now."""
    return DescribedGroup(
        group_id=group.id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group.members.values(), assignors),
        members=[_member(member, group, topics) for member in group.members.values()],
    )


def _member(member: Member, group: ConsumerGroup, topics: Topics) -> DescribedMember:
    profile = member.profile
    held: dict[bytes, list[int]] = {}
    for part in (member.assigned, member.revoking):
        for topic, epochs in part.items():
            held.setdefault(topic, []).extend(epochs)
    return DescribedMember(
        member_id=member.id,
        instance_id=profile.instance_id,
        rack_id=profile.rack_id,
        member_epoch=member.epoch,
        client_id=profile.client_id,
        client_host=profile.client_host,
        subscribed_topic_names=list(profile.topics),
        subscribed_topic_regex=profile.pattern,
        assignment=_assignment(held, topics),
        target_assignment=_assignment(group.targets.get(member.id, {}), topics),
        member_type=CLASSIC_MEMBER if member.is_classic else CONSUMER_MEMBER,
    )


def _assignment(partitions: Mapping[bytes, Iterable[int]], topics: Topics) -> Assignment:
    """An assignment with the topics' names; deleted topics are left out."""
    found = [(topics.identified(id), share) for id, share in partitions.items()]
    return Assignment(
        [TopicPartitions(topic.id, topic.name, sorted(share)) for topic, share in found if topic is not None]
    )
