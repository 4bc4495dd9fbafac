"""Online migration (KIP-848): a group goes over from one protocol to the other while its members work on.

    classic ──▶ consumer    the first member that speaks the new protocol comes    upgrade, bidirectional
    consumer ──▶ classic    the last one that speaks it goes                       downgrade, bidirectional

The others do not notice: they go on sending JoinGroup, SyncGroup and Heartbeat, and are answered by the broker in place
of a leader (classic_members.py). What they hold they keep, because what one protocol wrote down of it is what the
other begins with: the generation becomes the epoch, and the assignment that the leader made the target.

The policies are those of group.consumer.migration.policy. A group without members goes over at once, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from andiron.groups.assignors.spec import Partitions
from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.consumer.group import ConsumerGroup, subscribed_names
from andiron.groups.consumer.member import Member, Profile, held_since
from andiron.groups.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    target_epoch_record,
    target_record,
)
from andiron.groups.consumer.target_assignment import metadata_hash
from andiron.groups.group import TimerKey
from andiron.groups.records import ClassicMemberMetadata, ClassicProtocol, GroupRecord
from andiron.groups.settings import GroupSettings
from andiron.groups.topics import Topics
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.model.timers import Timers
from andiron.wire.consumer_protocol import (
    PROTOCOL_TYPE,
    VERSION_MAX,
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    versioned_bytes,
)
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions
from andiron.wire.primitives import MalformedMessage

UPGRADE, DOWNGRADE = ("upgrade", "bidirectional"), ("downgrade", "bidirectional")


# ── to the new protocol ──────────────────────────────────────────────────────────────


def check_upgrade(group: ClassicGroup, settings: GroupSettings) -> None:
    """Raise GROUP_ID_NOT_FOUND, as if there were no such consumer group, where there cannot be."""
    if settings.group_consumer_migration_policy.lower() not in UPGRADE:
        raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"{group.id} is a classic group, and is not to be upgraded")
    if group.protocol_type != PROTOCOL_TYPE:
        raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"{group.id} is a group of type {group.protocol_type!r}")
    if len(group.members) > settings.group_consumer_max_size:
        raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"{group.id} is too large for a consumer group")


def upgraded(group: ClassicGroup, topics: Topics) -> tuple[ConsumerGroup, list[GroupRecord]]:
    """The classic group as a consumer group, and the records that make it one."""
    taken: dict[bytes, set[int]] = {}
    # Whoever has an assignment goes before one who only says what it owned: see _holds.
    classics = sorted(group.members.values(), key=lambda member: not member.assignment)
    try:
        members = [_upgraded(member, group, topics, taken) for member in classics]
    except MalformedMessage as error:
        raise ErrorCode.GROUP_ID_NOT_FOUND.error(
            f"a member of the classic group {group.id} says what cannot be read: {error}"
        ) from error
    found = metadata_hash(subscribed_names(members, {}), topics)
    id, epoch = group.id, group.generation
    records = [member_record(id, member) for member in members]
    records.append(epoch_record(id, epoch, found))
    records += [target_record(id, each.id, _partitions(each)) for each in members]
    records.append(target_epoch_record(id, epoch, Millis(0)))
    records += [current_record(id, member) for member in members]
    consumer = ConsumerGroup(id)
    for record in records:
        consumer.replay(record.key, record.value)
    return consumer, [*group.tombstones(), *records]


def _upgraded(
    member: ClassicMember, group: ClassicGroup, topics: Topics, taken: dict[bytes, set[int]]
) -> Member:
    chosen = member.protocols.get(group.protocol or "")
    subscription = read_subscription(next(iter(member.protocols.values())) if chosen is None else chosen)
    held: dict[bytes, tuple[int, ...]] = {}
    for topic_id, partitions in _holds(member, subscription, topics):
        others = taken.setdefault(topic_id, set())
        if share := set(partitions) - others:
            held[topic_id] = tuple(sorted({*held.get(topic_id, ()), *share}))
            others.update(share)
    profile = Profile(
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=tuple(sorted(set(subscription.topics))),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicMemberMetadata(member.session_timeout_ms, _listed(member.protocols)),
    )
    epoch = group.generation
    return Member(member.id, profile, epoch, epoch, assigned=held_since(held, epoch))


def _holds(
    member: ClassicMember, subscription: Subscription, topics: Topics
) -> Iterable[tuple[bytes, list[int]]]:
    """The partitions that a classic member may be reading. In the middle of a rebalance its assignment has been
    taken back, and one that assigns cooperatively (KIP-429) goes on with what it owns all the same."""
    if not member.assignment:
        return [(each.topic_id, each.partitions) for each in owned_partitions(subscription, topics)]
    assignment = read_assignment(member.assignment)
    if assignment.user_data:
        raise MalformedMessage("its assignor has added data of its own to the assignment")
    found = [(topics.named(each.topic), each.partitions) for each in assignment.assigned_partitions]
    return [(topic.id, partitions) for topic, partitions in found if topic is not None]


def _partitions(member: Member) -> Partitions:
    return {topic: tuple(epochs) for topic, epochs in member.assigned.items()}


def _listed(protocols: Mapping[str, bytes]) -> list[ClassicProtocol]:
    return [ClassicProtocol(name, metadata) for name, metadata in protocols.items()]


# ── to the classic one ───────────────────────────────────────────────────────────────


def may_downgrade(staying: Sequence[Member], settings: GroupSettings) -> bool:
    """Whether a group can become a classic one: only classic members stay, and the migration policy allows it."""
    protocols = [
        {protocol.name for protocol in member.profile.classic.supported_protocols}
        for member in staying
        if member.profile.classic is not None
    ]
    return (
        0 < len(staying) <= settings.group_max_size
        and len(protocols) == len(staying)
        and bool(set.intersection(*protocols))
        and settings.group_consumer_migration_policy.lower() in DOWNGRADE
    )


def downgraded(
    group: ConsumerGroup, staying: Mapping[str, Member], topics: Topics, timers: Timers[TimerKey]
) -> ClassicGroup:
    """The consumer group as a classic group. `staying` has its members by the ids under which their targets
    are kept: one that has just come back as another has its former one's."""
    classic = ClassicGroup(group.id, timers, None)
    classic.generation = group.epoch
    for member in staying.values():
        classic.add(_downgraded(member), PROTOCOL_TYPE)
    protocol = classic.select_protocol()
    assignments: dict[str, bytes] = {}
    for former_id, member in staying.items():
        version = subscription_version(classic.members[member.id].protocols[protocol])
        target = group.targets.get(former_id, {})
        assignments[member.id] = assignment_bytes(target, topics, version)
    classic.assign(assignments)
    return classic


def _downgraded(member: Member) -> ClassicMember:
    profile, said = member.profile, member.profile.classic
    assert said is not None, "whoever stays speaks the classic protocol"
    protocols: dict[str, bytes] = {}
    for protocol in said.supported_protocols:
        protocols.setdefault(protocol.name, protocol.metadata)
    return ClassicMember(
        id=member.id,
        instance_id=profile.instance_id,
        client_id=profile.client_id,
        client_host=profile.client_host,
        rebalance_timeout_ms=profile.rebalance_timeout_ms,
        session_timeout_ms=said.session_timeout_ms,
        protocols=protocols,
    )


# ── subscriptions and assignments of the classic protocol ───────────────────────────


def subscription_version(subscription: bytes) -> int:
    """The version of a classic member's subscription, in which its assignment is to be encoded."""
    return min(int.from_bytes(subscription[:2], "big", signed=True), VERSION_MAX) if subscription else 0


def assignment_bytes(partitions: Mapping[bytes, Iterable[int]], topics: Topics, version: int) -> bytes:
    """An assignment encoded for a classic member, by topic names; deleted topics are left out."""
    found = [(topics.identified(id), share) for id, share in partitions.items()]
    assigned = [AssignedTopic(topic.name, list(share)) for topic, share in found if topic is not None]
    return versioned_bytes(Assignment(assigned), max(0, version))


def owned_partitions(subscription: Subscription, topics: Topics) -> list[TopicPartitions]:
    """The owned partitions in a classic member's subscription (KIP-429), by topic id, without deleted topics."""
    found = [(topics.named(each.topic), each.partitions) for each in subscription.owned_partitions]
    return [TopicPartitions(topic.id, partitions) for topic, partitions in found if topic is not None]
