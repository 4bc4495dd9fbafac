"""A member of a consumer group: what it says of itself, and how far it has come with what it is assigned.

    profile     topics or a pattern, timeouts, who it is            as it told us: ConsumerGroupMemberMetadata
    epoch       the assignment that it works by                     as we told it: ConsumerGroupCurrentMemberAssignment
    assigned    partitions that it may read
    revoking    partitions that it has been told to give up and has not yet

A partition that is assigned or being revoked is the member's, and nobody else's (group.py keeps the table).
With each partition stands the epoch at which it was assigned: a member that has not heard of its new epoch yet may
still commit offsets of what it had before and keeps (KIP-1251).

Members are values: a heartbeat makes the next one out of the last, and compares.

Read next: reconciliation.py, how `assigned` comes to be what the target says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from andiron.groups.assignors.spec import Partitions
from andiron.groups.group_memory import MEMBER_BYTES, PARTITION_BYTES, TEXT_BYTES
from andiron.groups.records import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    CurrentTopicPartitions,
)
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

# Where a member stands on the way to its target, as it is written.
STABLE, UNREVOKED_PARTITIONS, UNRELEASED_PARTITIONS = 0, 1, 2

JOINING, LEAVING, AWAY = 0, -1, -2  # in place of an epoch; AWAY: a static member that will be back
UNSAID = -1  # in place of a timeout

# Topic id → partition → the epoch at which it was assigned
PartitionEpochs: TypeAlias = Mapping[bytes, Mapping[int, int]]


class Profile(NamedTuple):
    """What a member says of itself in its heartbeats: subscription, timeouts, rack, instance id, assignor."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()  # by name, sorted
    pattern: str | None = ""  # a pattern (RE2), whose topics are subscribed to as well; "" or None: none
    rebalance_timeout_ms: int = UNSAID
    assignor: str | None = None
    classic: ClassicMemberMetadata | None = None  # if it speaks the classic protocol

    @classmethod
    def read(cls, value: ConsumerGroupMemberMetadataValue) -> Profile:
        return cls(
            value.instance_id,
            value.rack_id,
            value.client_id,
            value.client_host,
            tuple(value.subscribed_topic_names),
            value.subscribed_topic_regex,
            value.rebalance_timeout_ms,
            value.server_assignor,
            value.classic_member_metadata,
        )

    @property
    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        texts = (self.instance_id, self.rack_id, self.client_id, self.client_host, self.pattern)
        protocols = () if self.classic is None else self.classic.supported_protocols
        return (
            sum(len(text) for text in texts if text)
            + sum(TEXT_BYTES + len(name) for name in self.topics)
            + sum(len(protocol.name) + len(protocol.metadata) for protocol in protocols)
        )

    def value(self) -> ConsumerGroupMemberMetadataValue:
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=list(self.topics),
            subscribed_topic_regex=self.pattern,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor,
            classic_member_metadata=self.classic,
        )

    def told(self, request: ConsumerGroupHeartbeatRequest, client_id: str, client_host: str) -> Profile:
        """The profile after a heartbeat: fields that it leaves out stay as they were. Most leave out everything."""
        names, timeout_ms = request.subscribed_topic_names, request.rebalance_timeout_ms
        told = Profile(
            self.instance_id if request.instance_id is None else request.instance_id,
            self.rack_id if request.rack_id is None else request.rack_id,
            client_id,
            client_host,
            self.topics if names is None else tuple(sorted(set(names))),
            self.pattern if request.subscribed_topic_regex is None else request.subscribed_topic_regex,
            self.rebalance_timeout_ms if timeout_ms == UNSAID else timeout_ms,
            self.assignor if request.server_assignor is None else request.server_assignor,
        )
        return self if told == self else told


class Member(NamedTuple):
    """A member of a consumer group, with its member epoch and its current assignment."""

    id: str
    profile: Profile = Profile()
    epoch: int = JOINING
    previous_epoch: int = -1
    state: int = STABLE
    assigned: PartitionEpochs = {}
    revoking: PartitionEpochs = {}

    @property
    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        held = (*self.assigned.values(), *self.revoking.values())
        return MEMBER_BYTES + len(self.id) + self.profile.weight + PARTITION_BYTES * sum(map(len, held))

    @property
    def is_classic(self) -> bool:
        return self.profile.classic is not None

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether the member's assignment is its target of this assignment epoch."""
        return self.state == STABLE and self.epoch == epoch

    def at(
        self, epoch: int, state: int, assigned: PartitionEpochs, revoking: PartitionEpochs | None = None
    ) -> Member:
        """The member with another epoch, state or assignment."""
        return self._replace(
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            revoking={} if revoking is None else revoking,
        )

    def assigned_at(self, topic: bytes, partition: int) -> int | None:
        """The epoch at which a partition became this member's; None if it is not."""
        epoch = self.assigned.get(topic, {}).get(partition)
        return self.revoking.get(topic, {}).get(partition) if epoch is None else epoch

    def read(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> Member:
        """The member with the epoch and assignment of a ConsumerGroupCurrentMemberAssignment record."""
        epoch = value.member_epoch
        return self._replace(
            epoch=epoch,
            previous_epoch=value.previous_member_epoch,
            state=value.state,
            assigned=_read(value.assigned_partitions, epoch),
            revoking=_read(value.partitions_pending_revocation, epoch),
        )

    def value(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_written(self.assigned),
            partitions_pending_revocation=_written(self.revoking),
        )


def held_since(partitions: Partitions, epoch: int) -> PartitionEpochs:
    """These partitions, all assigned at one epoch."""
    return {topic: dict.fromkeys(share, epoch) for topic, share in partitions.items()}


def _written(held: PartitionEpochs) -> list[CurrentTopicPartitions]:
    return [
        CurrentTopicPartitions(topic, list(epochs), list(epochs.values())) for topic, epochs in held.items()
    ]


def _read(written: Iterable[CurrentTopicPartitions], member_epoch: int) -> PartitionEpochs:
    """Brokers before 4.3 wrote no epochs: such partitions count as assigned at the member's."""
    held: dict[bytes, dict[int, int]] = {}
    for topic in written:
        partitions, epochs = topic.partitions, topic.assignment_epochs
        if len(epochs) != len(partitions):
            epochs = [max(0, member_epoch)] * len(partitions)
        held[topic.topic_id] = dict(zip(partitions, epochs, strict=True))
    return held
