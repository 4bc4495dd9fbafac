"""The classic group protocol: members agree among themselves who reads what, and the coordinator brings them together.

    JoinGroup   "I am here, and this is what I could do"  ──▶  when all are: the generation, its leader and protocol
    SyncGroup   the leader: "this is who gets what"       ──▶  to each member, what it gets
    Heartbeat   "I am still here"                         ──▶  or: join again, something has changed
    LeaveGroup  "I am not"

This is the way in: requests, and the deadlines that come instead of requests. What a group is stands in
group.py, how it changes in rebalance.py.

Once a shard is loaded, a group's records are decided here, by a group that is already what they say (or further):
they are replayed by those who read the log later. Until then, a group is what its latest record says.

Read next: join.py.
"""

from __future__ import annotations

from andiron.groups.classic.answers import Outcome, described, synced
from andiron.groups.classic.group import JOIN, SESSION, SYNC, ClassicGroup
from andiron.groups.classic.join import Joining
from andiron.groups.classic.rebalance import Rebalance
from andiron.groups.classic.records import restored, written
from andiron.groups.classic.states import ClassicState, GroupEvent
from andiron.groups.group import CLASSIC, GroupContext, TimerKey, not_of_kind
from andiron.groups.rebalances import LEAVE, PROTOCOL, SESSION_TIMEOUT, SIZE
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, wall_time
from andiron.model.machine import CoordinatorRequest, Decision, Promise
from andiron.wire.messages.describe_groups import DescribedGroup
from andiron.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from andiron.wire.messages.join_group import JoinGroupRequest
from andiron.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from andiron.wire.messages.sync_group import SyncGroupRequest

PROTOCOL_NAMED_SINCE = 5  # SyncGroup
LEAVE_BY_BATCH_SINCE = 3
NOT_FOUND_SINCE = 6  # DescribeGroups


class ClassicProtocol:
    """The classic groups of one shard."""

    def __init__(self, context: GroupContext) -> None:
        self._context, self._rebalance = context, Rebalance(context)
        self._loaded = False

    # ── requests ─────────────────────────────────────────────────────────────────────

    def join(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """JoinGroup: a member wants to be part of the next generation, and mostly waits until all have joined."""
        request: JoinGroupRequest = asked.body
        self._check_join(request)
        group = self._group(request.group_id)
        if group is None:
            if request.member_id:
                raise _no_group(request.group_id)
            group = ClassicGroup(request.group_id, self._context.timers, wall_time(now))
        joining = Joining(self._context, self._rebalance, asked, now)
        response = joining.into(group)
        self._context.groups[group.id] = group
        return joining.outcome.decision(response)

    def _check_join(self, request: JoinGroupRequest) -> None:
        _check_id(request.group_id)
        settings, timeout_ms = self._context.settings, request.session_timeout_ms
        if not settings.group_min_session_timeout_ms <= timeout_ms <= settings.group_max_session_timeout_ms:
            raise ErrorCode.INVALID_SESSION_TIMEOUT.error(
                f"{timeout_ms} ms are not between {settings.group_min_session_timeout_ms}"
                f" and {settings.group_max_session_timeout_ms}"
            )

    def sync(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """SyncGroup: a member asks for its assignment; the leader brings the assignments of all."""
        request: SyncGroupRequest = asked.body
        named = request.protocol_type is not None and request.protocol_name is not None
        if asked.version >= PROTOCOL_NAMED_SINCE and not named:
            raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error("the request does not name the protocol")
        _check_id(request.group_id)
        group = self._known_group(request.group_id)
        member = group.check_member(request.member_id, request.group_instance_id)
        group.check_generation(request.generation_id)
        _check_same("type", request.protocol_type, group.protocol_type)
        _check_same("name", request.protocol_name, group.protocol)
        if group.state is ClassicState.PREPARING_REBALANCE:
            raise ErrorCode.REBALANCE_IN_PROGRESS.error(f"group {group.id} is rebalancing")
        outcome = Outcome()
        if group.state is ClassicState.COMPLETING_REBALANCE:
            promise = self._rebalance.await_sync(group, member, outcome)
            if group.leader == member.id:
                self._rebalance.assign(group, request.assignments, now, outcome)
            return outcome.decision(promise)
        self._rebalance.note_sync(group, member)
        return outcome.decision(synced(group, member))

    def heartbeat(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """Heartbeat: a member is alive. While the group rebalances the answer is REBALANCE_IN_PROGRESS: join again."""
        request: HeartbeatRequest = asked.body
        _check_id(request.group_id)
        group = self._known_group(request.group_id)
        member = group.check_member(request.member_id, request.group_instance_id)
        group.check_generation(request.generation_id)
        group.start_session(member.id, now, member.session_timeout_ms)
        if group.state is ClassicState.PREPARING_REBALANCE:
            return Decision(HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS.number))
        return Decision(HeartbeatResponse())

    def leave(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """LeaveGroup: members go. Each is answered by itself; before version 3 there is one."""
        request: LeaveGroupRequest = asked.body
        _check_id(request.group_id)
        by_batch = asked.version >= LEAVE_BY_BATCH_SINCE
        leaving = request.members if by_batch else [MemberIdentity(request.member_id)]
        group, outcome, response = self._group(request.group_id), Outcome(), LeaveGroupResponse()
        members_before = len(group.members) if group else 0
        for each in leaving:
            error = self._leave(group, each, outcome)
            response.members.append(MemberResponse(each.member_id, each.group_instance_id, error.number))
        if group is not None:
            if len(group.members) < members_before:
                self._rebalance.member_left(group, now, outcome, LEAVE)
            else:
                self._pending_expired(group, now, outcome)
        if not by_batch:
            response = LeaveGroupResponse(error_code=response.members[0].error_code)
        return outcome.decision(response)

    def _leave(self, group: ClassicGroup | None, who: MemberIdentity, outcome: Outcome) -> ErrorCode:
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if who.member_id in group.pending:
            group.remove(who.member_id)
            return ErrorCode.NONE
        static = group.static_member(who.group_instance_id) if not who.member_id else None
        try:
            member = static or group.check_member(who.member_id, who.group_instance_id)
        except ProtocolError as error:
            return error.code
        self._rebalance.drop(group, member, outcome)
        return ErrorCode.NONE

    def describe(self, group_id: str, version: int) -> DescribedGroup:
        """DescribeGroups: state and members of a group, which is Dead if there is no classic one of this id."""
        group = self._group(group_id)
        if group is not None:
            return described(group)
        if version < NOT_FOUND_SINCE:
            return DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD)
        return DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND.number,
            error_message=not_of_kind(group_id, CLASSIC, self._context.groups.get(group_id)),
            group_id=group_id,
            group_state=ClassicState.DEAD,
        )

    # ── time ─────────────────────────────────────────────────────────────────────────

    def expired(self, timer: TimerKey, now: Millis) -> Decision[GroupRecord]:
        """A deadline has come: of a member's session, or of the time to send JoinGroup or SyncGroup in a rebalance."""
        group, outcome = self._group(timer.group_id), Outcome()
        if group is not None:
            if timer.purpose == SESSION:
                self._session_over(group, timer.member_id, now, outcome)
            elif timer.purpose == JOIN:
                self._rebalance.join_overdue(group, now, outcome)
            else:
                assert timer.purpose == SYNC
                self._rebalance.sync_overdue(group, now, outcome)
        return outcome.decision(None)

    def _session_over(self, group: ClassicGroup, member_id: str, now: Millis, outcome: Outcome) -> None:
        member = group.members.get(member_id)
        if member is None:
            group.remove(member_id)
            self._pending_expired(group, now, outcome)
        elif not member.may_be_silent:
            self._rebalance.drop(group, member, outcome)
            self._rebalance.member_left(group, now, outcome, SESSION_TIMEOUT)

    def _pending_expired(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """A member that was given an id has not joined with it in time. A group that never had another is forgotten."""
        if group.is_unwritten:
            self._forget(group)
        else:
            self._rebalance.complete_if_all_joined(group, now, outcome)

    def loaded(self, now: Millis) -> None:
        """The log has been read: from now on members must be heard from. A group that is too large for what is
        allowed by now is made smaller by a rebalance."""
        self._loaded = True
        for group in self._context.groups.values():
            if isinstance(group, ClassicGroup):
                for member in group.members.values():
                    group.start_session(member.id, now, member.session_timeout_ms)
                if len(group.members) > self._context.settings.group_max_size:
                    self._rebalance.prepare(group, now, Outcome(), SIZE)

    # ── the log ──────────────────────────────────────────────────────────────────────

    def replay(self, record: GroupRecord) -> None:
        """Replay a GroupMetadata record: the group as it is from there on, or a tombstone."""
        group_id = record.key.group
        if record.value is None:
            if (group := self._group(group_id)) is not None:
                self._forget(group)
        elif not self._loaded:
            self._context.groups[group_id] = restored(group_id, record.value, self._context.timers)

    def _forget(self, group: ClassicGroup) -> None:
        for member_id in [*group.pending, *group.members]:
            group.end_session(member_id)
        self._context.timers.cancel(TimerKey(JOIN, group.id))
        self._context.timers.cancel(TimerKey(SYNC, group.id))
        group.move(GroupEvent.DELETED, group.since)
        if self._context.groups.get(group.id) is group:
            del self._context.groups[group.id]

    # ── groups that change their protocol ────────────────────────────────────────────

    def give_up(self, group: ClassicGroup) -> list[Promise]:
        """The group becomes a consumer group (KIP-848), and whoever waits is told to join again: the promises kept."""
        outcome = Outcome()
        for member in group.members.values():
            outcome.refuse(group, member, ErrorCode.REBALANCE_IN_PROGRESS)
        self._forget(group)
        return outcome.kept

    def take_over(self, group: ClassicGroup, now: Millis, *, rebalance: bool) -> GroupRecord:
        """A group of the other protocol goes on under this one: its members have been added and assigned to, and
        may have to be asked to join again. Returns the record that makes it so."""
        group.protocol = group.select_protocol()
        group.note_subscriptions()
        group.move(GroupEvent.RESTORED, wall_time(now))
        for member in group.members.values():
            group.start_session(member.id, now, member.session_timeout_ms)
        self._context.groups[group.id] = group
        record = written(group)
        if rebalance:
            self._rebalance.prepare(group, now, Outcome(), PROTOCOL)
        return record

    def _group(self, group_id: str) -> ClassicGroup | None:
        group = self._context.groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def _known_group(self, group_id: str) -> ClassicGroup:
        group = self._group(group_id)
        if group is None:
            raise _no_group(group_id)
        return group


def _check_id(group_id: str) -> None:
    if not group_id:
        raise ErrorCode.INVALID_GROUP_ID.error("a group needs a name")


def _check_same(what: str, said: str | None, known: str | None) -> None:
    if said is not None and known is not None and said != known:
        raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(f"the protocol's {what} is {known!r}, not {said!r}")


def _no_group(group_id: str) -> ProtocolError:
    return ErrorCode.UNKNOWN_MEMBER_ID.error(f"there is no group {group_id}")
