"""Members of a consumer group that still speak the classic protocol: a group on its way from one to the other.

    JoinGroup    classic/join.py
    SyncGroup    "what do I get": what is assigned to the member
    Heartbeat    REBALANCE_IN_PROGRESS if there is a newer target, something to give up, or something has become free
    LeaveGroup   members go

A group that has no members at all is a classic one again when somebody joins it this way.
"""

from __future__ import annotations

from andiron.groups.classic.protocol import LEAVE_BY_BATCH_SINCE, PROTOCOL_NAMED_SINCE, ClassicProtocol
from andiron.groups.consumer.change import Change
from andiron.groups.consumer.classic_join import ClassicJoin
from andiron.groups.consumer.departures import Departures
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import UNRELEASED_PARTITIONS, UNREVOKED_PARTITIONS, Member
from andiron.groups.consumer.migration import assignment_bytes, subscription_version
from andiron.groups.consumer.patterns import Matches
from andiron.groups.consumer.sessions import Sessions
from andiron.groups.group import GroupContext
from andiron.groups.rebalances import LEAVE
from andiron.groups.records import ClassicMemberMetadata, GroupRecord
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.consumer_protocol import PROTOCOL_TYPE
from andiron.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from andiron.wire.messages.join_group import JoinGroupRequest
from andiron.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class ClassicMembers:
    """How members of a shard's consumer groups are served that speak the classic protocol."""

    def __init__(
        self, context: GroupContext, matches: Matches, sessions: Sessions, departures: Departures,
        classic: ClassicProtocol,
    ) -> None:  # fmt: skip
        self._context, self._matches, self._sessions = context, matches, sessions
        self._departures, self._classic = departures, classic

    def join(self, group: ConsumerGroup, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """JoinGroup of a classic member to a consumer group, for the first time or again."""
        if not group.members:
            return self._join_empty(group, asked, now)
        request: JoinGroupRequest = asked.body
        settings = self._context.settings
        least, most = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
        if not least <= request.session_timeout_ms <= most:
            raise ErrorCode.INVALID_SESSION_TIMEOUT.error(
                f"{request.session_timeout_ms} ms are not between {least} and {most}"
            )
        change = Change(self._context, self._matches, group, now)
        return ClassicJoin(self._context, self._sessions, self._departures, change, asked).decide()

    def _join_empty(
        self, group: ConsumerGroup, asked: CoordinatorRequest, now: Millis
    ) -> Decision[GroupRecord]:
        groups = self._context.groups
        del groups[group.id]
        try:
            joined = self._classic.join(asked, now)
        except ProtocolError:
            groups[group.id] = group
            raise
        return Decision(joined.response, [*group.tombstones(), *joined.records], joined.kept, firm=False)

    def sync(self, group: ConsumerGroup, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """SyncGroup of a classic member: its assignment, as the broker made it."""
        request: SyncGroupRequest = asked.body
        named = request.protocol_type is not None and request.protocol_name is not None
        if asked.version >= PROTOCOL_NAMED_SINCE and not named:
            raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error("the request does not name the protocol")
        member, said = self._member(group, request)
        chosen = said.supported_protocols[0]
        if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (
            None,
            chosen.name,
        ):
            raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(
                f"the member has joined with {chosen.name!r} of type {PROTOCOL_TYPE!r}"
            )
        if group.assignment_epoch > member.epoch and member.state != UNREVOKED_PARTITIONS:
            self._sessions.must_join(group.id, member, now)
            return Decision(SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS.number))
        self._sessions.has_synced(group.id, member)
        self._sessions.heard(group.id, member, now)
        version = subscription_version(chosen.metadata)
        return Decision(
            SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=assignment_bytes(member.assigned, self._context.topics, version),
            )
        )

    def heartbeat(
        self, group: ConsumerGroup, asked: CoordinatorRequest, now: Millis
    ) -> Decision[GroupRecord]:
        """Heartbeat of a classic member: REBALANCE_IN_PROGRESS where its assignment changes, so that it joins again."""
        member, _ = self._member(group, asked.body)
        self._sessions.heard(group.id, member, now)
        if not _must_join(group, member):
            return Decision(HeartbeatResponse())
        self._sessions.must_join(group.id, member, now)
        return Decision(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS.number))

    def _member(
        self, group: ConsumerGroup, request: HeartbeatRequest | SyncGroupRequest
    ) -> tuple[Member, ClassicMemberMetadata]:
        member = _find(group, request.member_id, request.group_instance_id)
        said = member.profile.classic
        if said is None:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(f"{member.id} does not speak the classic protocol")
        if request.generation_id != member.epoch:
            raise ErrorCode.ILLEGAL_GENERATION.error(
                f"{member.id} is in generation {member.epoch}, not {request.generation_id}"
            )
        return member, said

    def leave(self, group: ConsumerGroup, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """LeaveGroup: members of either protocol go. Each is answered by itself; before version 3 there is one."""
        request: LeaveGroupRequest = asked.body
        by_batch = asked.version >= LEAVE_BY_BATCH_SINCE
        leaving: dict[str, Member] = {}
        answers: list[MemberResponse] = []
        for who in request.members if by_batch else [MemberIdentity(request.member_id)]:
            answer = MemberResponse(who.member_id, who.group_instance_id)
            answers.append(answer)
            try:
                member = _leaving(group, who)
                leaving[member.id] = member
            except ProtocolError as error:
                answer.error_code = error.code.number
        response = (
            LeaveGroupResponse(members=answers)
            if by_batch
            else LeaveGroupResponse(error_code=answers[0].error_code)
        )
        return self._departures.remove(group, list(leaving.values()), response, now, LEAVE)


def _find(group: ConsumerGroup, member_id: str, instance_id: str | None) -> Member:
    return group.member(member_id) if instance_id is None else group.check_static(member_id, instance_id)


def _leaving(group: ConsumerGroup, who: MemberIdentity) -> Member:
    """The member that a LeaveGroup names: by its id, or a static one by its group.instance.id alone."""
    if who.group_instance_id is not None and not who.member_id:
        static = group.static_member(who.group_instance_id)
        return _find(group, "" if static is None else static.id, who.group_instance_id)
    return _find(group, who.member_id, who.group_instance_id)


def _must_join(group: ConsumerGroup, member: Member) -> bool:
    """Whether a classic member's assignment has changed, which it learns only by joining again."""
    if member.epoch < group.assignment_epoch or member.state == UNREVOKED_PARTITIONS:
        return True
    return member.state == UNRELEASED_PARTITIONS and all(
        partition in member.assigned.get(topic, {}) or group.is_free(topic, partition)
        for topic, share in group.targets.get(member.id, {}).items()
        for partition in share
    )
