"""Descriptions of groups for admins: members, their assignments, and committed offsets.

    ListGroups              every broker tells the groups it coordinates     GroupListing
    ConsumerGroupDescribe   groups that assign on the broker        ┐
    DescribeGroups          groups whose members assign themselves  ┤        GroupDescription
    ListGroups, again       share and streams groups, in a word     ┘
    OffsetFetch             what was committed                               CommittedOffset

Members of the classic protocol exchange their assignments as bytes. They are read where the group says that
they are a consumer's (wire/consumer_protocol.py); those of other kinds of groups, such as Kafka Connect's,
are left alone, and their members have no partitions to tell.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.client.core.metadata import Broker
from andiron.model.ids import TopicPartition
from andiron.wire.consumer_protocol import (
    PROTOCOL_TYPE,
    AssignedTopic,
    Subscription,
    read_assignment,
    read_subscription,
)
from andiron.wire.messages import consumer_group_describe, describe_groups
from andiron.wire.messages.list_groups import ListedGroup
from andiron.wire.primitives import MalformedMessage

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
EMPTY, DEAD, STABLE = "Empty", "Dead", "Stable"
NO_EPOCH = -1


class GroupListing(NamedTuple):
    """A group in a list; state and type are empty where a broker is too old to tell."""

    id: str
    type: str
    protocol_type: str
    state: str
    coordinator: int

    @classmethod
    def of(cls, told: ListedGroup, coordinator: int) -> GroupListing:
        """As a broker told it; the type is in small letters, however the broker writes it."""
        return cls(told.group_id, told.group_type.lower(), told.protocol_type, told.group_state, coordinator)


class GroupMember(NamedTuple):
    """A member of a group. Partitions are None where they cannot be read; the target is its target assignment."""

    id: str
    instance_id: str | None
    client_id: str
    host: str
    rack: str | None
    topics: list[str]
    partitions: list[TopicPartition] | None
    target: list[TopicPartition] | None = None
    epoch: int = NO_EPOCH

    @classmethod
    def of_classic(cls, told: describe_groups.DescribedGroupMember, protocol_type: str) -> GroupMember:
        """As DescribeGroups told it."""
        wanted, partitions = Subscription(), None
        if protocol_type == PROTOCOL_TYPE:
            wanted, partitions = _subscription(told.member_metadata), _assignment(told.member_assignment)
        return cls(
            told.member_id,
            told.group_instance_id,
            told.client_id,
            told.client_host,
            wanted.rack_id or None,
            wanted.topics,
            partitions,
        )

    @classmethod
    def of_consumer(cls, told: consumer_group_describe.Member) -> GroupMember:
        """As ConsumerGroupDescribe told it."""
        regex = [f"/{told.subscribed_topic_regex}/"] if told.subscribed_topic_regex else []
        return cls(
            told.member_id,
            told.instance_id,
            told.client_id,
            told.client_host,
            told.rack_id or None,
            [*told.subscribed_topic_names, *regex],
            _partitions(told.assignment),
            _partitions(told.target_assignment),
            told.member_epoch,
        )


class GroupDescription(NamedTuple):
    """A group and its members; `assignor` is empty where there is none."""

    id: str
    type: str
    protocol_type: str
    state: str
    assignor: str
    coordinator: Broker
    members: list[GroupMember]
    epoch: int = NO_EPOCH
    assignment_epoch: int = NO_EPOCH

    @property
    def is_of_consumers(self) -> bool:
        """Whether its members are consumers, which are told of here; those of share and streams groups are not."""
        return self.type in (CLASSIC, CONSUMER)

    @property
    def is_active(self) -> bool:
        """Whether the group has members, which would not notice a change of its committed offsets."""
        return bool(self.members) or self.state not in (EMPTY, DEAD)

    @property
    def subscribes(self) -> bool:
        """Whether its members subscribe to topics, or did. Consumers that assign partitions to themselves, and only
        commit, do not, and neither do the workers of Kafka Connect."""
        return self.protocol_type == PROTOCOL_TYPE

    def topics(self) -> set[str]:
        """The topics that its members subscribe to by name."""
        return {topic for member in self.members for topic in member.topics if not topic.startswith("/")}

    def owners(self) -> dict[TopicPartition, GroupMember]:
        """The member that has each partition."""
        return {partition: member for member in self.members for partition in member.partitions or ()}

    @classmethod
    def of_listing(cls, told: GroupListing, coordinator: Broker) -> GroupDescription:
        """As it was listed; brokers that do not tell types name the protocol of such a group for it."""
        return cls(
            told.id, told.type or told.protocol_type, told.protocol_type, told.state, "", coordinator, []
        )

    @classmethod
    def of_classic(cls, told: describe_groups.DescribedGroup, coordinator: Broker) -> GroupDescription:
        """As DescribeGroups told it."""
        members = [GroupMember.of_classic(each, told.protocol_type) for each in told.members]
        return cls(
            told.group_id,
            CLASSIC,
            told.protocol_type,
            told.group_state,
            told.protocol_data,
            coordinator,
            sorted(members, key=lambda member: member.id),
        )

    @classmethod
    def of_consumer(
        cls, told: consumer_group_describe.DescribedGroup, coordinator: Broker
    ) -> GroupDescription:
        """As ConsumerGroupDescribe told it."""
        return cls(
            told.group_id,
            CONSUMER,
            PROTOCOL_TYPE,
            told.group_state,
            told.assignor_name,
            coordinator,
            sorted(map(GroupMember.of_consumer, told.members), key=lambda member: member.id),
            told.group_epoch,
            told.assignment_epoch,
        )


class CommittedOffset(NamedTuple):
    """How far a group has read a partition: the offset of the record to be read next."""

    offset: int
    epoch: int
    metadata: str


def _subscription(data: bytes) -> Subscription:
    try:
        return read_subscription(data)
    except MalformedMessage:
        return Subscription()


def _assignment(data: bytes) -> list[TopicPartition] | None:
    try:
        return _flat(read_assignment(data).assigned_partitions)
    except MalformedMessage:
        return None


def _flat(topics: list[AssignedTopic]) -> list[TopicPartition]:
    return sorted(TopicPartition(each.topic, number) for each in topics for number in each.partitions)


def _partitions(assignment: consumer_group_describe.Assignment) -> list[TopicPartition]:
    return sorted(
        TopicPartition(each.topic_name, number)
        for each in assignment.topic_partitions
        for number in each.partitions
    )
