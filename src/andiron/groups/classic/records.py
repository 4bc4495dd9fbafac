"""A classic group in the log: one record holds all of it.

    key     2 · group id
    value   protocol type · generation · protocol · leader · since when · members, each with its assignment

It is written when a generation has got its assignments, when the last member has gone (another generation, with
nobody in it), and when a static member has come back under another id. What a member said of protocols other than
the chosen one is not written. It says it again when it next joins.
"""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.states import ClassicState, GroupEvent
from andiron.groups.group import TimerKey
from andiron.groups.records import GroupMetadataKey, GroupMetadataValue, GroupRecord, MemberMetadata
from andiron.model.ids import NO_TIMESTAMP, Millis
from andiron.model.timers import Timers

UNSAID = -1  # the rebalance timeout, in records of the first brokers that wrote one


def written(group: ClassicGroup) -> GroupRecord:
    """The GroupMetadata record of the group as it is now."""
    assert group.state in (ClassicState.STABLE, ClassicState.EMPTY), (
        "on the way between generations there is nothing to write"
    )
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=NO_TIMESTAMP if group.since is None else group.since,
        members=[_written(member, group.protocol) for member in group.members.values()],
    )
    return GroupRecord(GroupMetadataKey(group.id), value)


def _written(member: ClassicMember, protocol: str | None) -> MemberMetadata:
    return MemberMetadata(
        member_id=member.id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol),
        assignment=member.assignment,
    )


def restored(group_id: str, value: GroupMetadataValue, timers: Timers[TimerKey]) -> ClassicGroup:
    """The group of a GroupMetadata record. Its members' sessions begin when the log is read (protocol.py, loaded)."""
    since = value.current_state_timestamp
    group = ClassicGroup(group_id, timers, None if since == NO_TIMESTAMP else Millis(since))
    group.generation, group.protocol = value.generation, value.protocol
    group.protocol_type = value.protocol_type
    for member in {each.member_id: each for each in value.members}.values():
        group.add(_restored(member, value.protocol or ""), value.protocol_type)
    if value.leader in group.members:
        group.leader = value.leader
    if group.members:
        group.move(GroupEvent.RESTORED, group.since)
    group.note_subscriptions()
    return group


def _restored(member: MemberMetadata, protocol: str) -> ClassicMember:
    unsaid = member.rebalance_timeout == UNSAID
    return ClassicMember(
        id=member.member_id,
        instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.session_timeout if unsaid else member.rebalance_timeout,
        session_timeout_ms=member.session_timeout,
        protocols={protocol: member.subscription},
        assignment=member.assignment,
    )
