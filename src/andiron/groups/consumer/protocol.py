"""The consumer group protocol (KIP-848): members send heartbeats, and the broker says who reads what.

    member ── "I am here, I read these topics" ──▶            epoch 0
           ◀── "you are at epoch 7, read t-0 and t-1"
           ── "still here" ──▶                                epoch 7, over and over
           ◀── "still 7"                                      until somebody comes, goes, or a topic grows:
           ◀── "read t-0 only"                                still 7
           ── "I own t-0" ──▶
           ◀── "you are at epoch 8"                           and t-1 is somebody else's from here on

Each member is told for itself, when it is next heard from; nobody waits for the others, and partitions that do not
move never pause. All that is decided is in records. Soft is only who is late or busy (sessions.py).

This is the way in: requests, and the deadlines that come instead. What a heartbeat makes of a group stands in
change.py.

Kafka makes new targets at most once in group.consumer.assignment.interval.ms (a second, by default), so that a crowd of
members that come at once costs one assignment. There is no such setting here, which is as if it were 0: members get
their partitions with their first heartbeat, and an assignment costs a few milliseconds.

Read next: group.py, change.py, reconciliation.py.
"""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.protocol import ClassicProtocol
from andiron.groups.classic.states import ClassicState
from andiron.groups.consumer.change import Change
from andiron.groups.consumer.checks import check_epoch, check_heartbeat, check_size, new_member_id
from andiron.groups.consumer.classic_members import ClassicMembers
from andiron.groups.consumer.departures import Departures
from andiron.groups.consumer.description import described
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import AWAY, JOINING, LEAVING, UNSAID, Member
from andiron.groups.consumer.migration import check_upgrade, upgraded
from andiron.groups.consumer.patterns import Matches
from andiron.groups.consumer.sessions import REBALANCE, SESSION, Sessions
from andiron.groups.group import CONSUMER, GroupContext, TimerKey, not_of_kind
from andiron.groups.rebalances import LEAVE, REBALANCE_TIMEOUT, SESSION_TIMEOUT
from andiron.groups.records import ConsumerGroupMetadataKey, GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.model.invariant import invariant
from andiron.model.machine import CoordinatorRequest, Decision, Promise
from andiron.wire.messages.consumer_group_describe import DescribedGroup
from andiron.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)


class ConsumerProtocol:
    """The consumer groups of one shard."""

    def __init__(self, context: GroupContext) -> None:
        self._is_loaded = False
        self._context, self._sessions = context, Sessions(context)
        self._matches = Matches(context.topics, context.settings.group_consumer_regex_refresh_interval_ms)
        self._classic = ClassicProtocol(context)  # for groups that go over to it, or come from it
        self._departures = Departures(context, self._matches, self._sessions, self._classic)
        self._classic_members = ClassicMembers(
            context, self._matches, self._sessions, self._departures, self._classic
        )

    # ── heartbeats ───────────────────────────────────────────────────────────────────

    def heartbeat(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """ConsumerGroupHeartbeat: a member joins, stays, or (epoch -1 or -2) leaves."""
        request: ConsumerGroupHeartbeatRequest = asked.body
        settings = self._context.settings
        check_heartbeat(request, asked.version, settings.group_consumer_assignors)
        if request.member_epoch in (LEAVING, AWAY):
            return self._leave(request, now)
        group, records, former_group = self._group_for(request)
        check_size(group, request.member_id, settings.group_consumer_max_size)
        change = Change(self._context, self._matches, group, now)
        before = self._member(request, group, change)
        profile = before.profile.told(request, asked.client_id, asked.client_host)
        after = change.apply(before, profile, request.topic_partitions)
        kept = [] if former_group is None else self._take_over(former_group, group, now)
        self._note_heartbeat(group, before, after, change, now)
        records += change.records
        return Decision(self._response(request, before, after), records, kept, firm=not records)

    def _group_for(
        self, request: ConsumerGroupHeartbeatRequest
    ) -> tuple[ConsumerGroup, list[GroupRecord], ClassicGroup | None]:
        """The group of a heartbeat. A member that joins may make it, or turn a classic one into it: the records
        for that, and the classic group that is to be given up."""
        group_id = request.group_id
        group = self._context.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group, [], None
        if request.member_epoch != JOINING:
            raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no consumer group {group_id}")
        if group is None:
            return ConsumerGroup(group_id), [], None
        assert isinstance(group, ClassicGroup)
        if group.state is ClassicState.EMPTY:
            return ConsumerGroup(group_id), group.tombstones(), group
        check_upgrade(group, self._context.settings)
        return *upgraded(group, self._context.topics), group

    def _take_over(self, classic: ClassicGroup, group: ConsumerGroup, now: Millis) -> list[Promise]:
        """The group goes on under this protocol: its members are waited for here from now on."""
        kept = self._classic.give_up(classic)
        for member in group.members.values():
            self._sessions.heard(group.id, member, now)
        return kept

    def _member(self, request: ConsumerGroupHeartbeatRequest, group: ConsumerGroup, change: Change) -> Member:
        """The member that a heartbeat comes from, as it was until now. A static one that joins once more under its own
        id has lost an answer, and is let in; Kafka takes it for somebody else."""
        member_id, instance_id = request.member_id, request.instance_id
        joins = request.member_epoch == JOINING
        static = group.static_member(instance_id)
        if joins and static is not None and static.id != member_id:
            if static.epoch != AWAY and not static.is_classic:
                raise ErrorCode.UNRELEASED_INSTANCE_ID.error(
                    f"instance {instance_id!r} is in use by {static.id}"
                )
            return change.replace(static, member_id or new_member_id(self._context.chance))
        if joins:
            member = group.members.get(member_id) or Member(member_id or new_member_id(self._context.chance))
            return member._replace(epoch=JOINING, previous_epoch=JOINING) if member.epoch == AWAY else member
        member = (
            group.member(member_id) if instance_id is None else group.check_static(member_id, instance_id)
        )
        check_epoch(member, request.member_epoch, request.topic_partitions)
        return member

    def _note_heartbeat(
        self, group: ConsumerGroup, before: Member, after: Member, change: Change, now: Millis
    ) -> None:
        if before.is_classic and not after.is_classic:
            self._sessions.end(group.id, before.id)
        if change.former is not None:
            self._sessions.end(group.id, change.former.id)
        self._sessions.heard(group.id, after, now)
        if change.moved:
            self._sessions.moved(group.id, after, now)

    def _response(
        self, request: ConsumerGroupHeartbeatRequest, before: Member, after: Member
    ) -> ConsumerGroupHeartbeatResponse:
        """The heartbeat's response. The assignment is in it when it is new, and until the member acknowledges it: the
        answer may be lost. Kafka tells it again only to one who says everything, as clients should who missed an
        answer; librdkafka sends the same heartbeat once more instead, and would never hear of it."""
        response = ConsumerGroupHeartbeatResponse(member_id=after.id, member_epoch=after.epoch)
        says_all = (
            request.rebalance_timeout_ms != UNSAID
            and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
            and request.topic_partitions is not None
        )
        news = request.member_epoch == JOINING or says_all or before.assigned != after.assigned
        if self._sessions.tells_assignment(request.group_id, after, request.topic_partitions, news=news):
            assigned = [TopicPartitions(topic, list(epochs)) for topic, epochs in after.assigned.items()]
            response.assignment = Assignment(assigned)
        response.heartbeat_interval_ms = self._sessions.heartbeat_interval_ms(request.group_id, after)
        return response

    def _leave(self, request: ConsumerGroupHeartbeatRequest, now: Millis) -> Decision[GroupRecord]:
        group, member_id, instance_id = self._group(request.group_id), request.member_id, request.instance_id
        member = (
            group.member(member_id) if instance_id is None else group.check_static(member_id, instance_id)
        )
        response = ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=request.member_epoch)
        if request.member_epoch == AWAY:
            return self._departures.away(group, member, response)
        return self._departures.remove(group, [member], response, now, LEAVE)

    # ── requests of the classic protocol ─────────────────────────────────────────────

    def join(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """JoinGroup to a consumer group."""
        return self._classic_members.join(self._group(asked.body.group_id), asked, now)

    def sync(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """SyncGroup to a consumer group."""
        return self._classic_members.sync(self._group(asked.body.group_id), asked, now)

    def classic_heartbeat(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """Heartbeat to a consumer group."""
        return self._classic_members.heartbeat(self._group(asked.body.group_id), asked, now)

    def leave(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        """LeaveGroup to a consumer group."""
        return self._classic_members.leave(self._group(asked.body.group_id), asked, now)

    # ── what else there is to know ───────────────────────────────────────────────────

    def describe(self, group_id: str) -> DescribedGroup:
        """ConsumerGroupDescribe: state and members of a consumer group; GROUP_ID_NOT_FOUND for a classic one."""
        group = self._context.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return described(group, self._context.topics, self._context.settings.group_consumer_assignors)
        return DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND.number,
            error_message=not_of_kind(group_id, CONSUMER, group),
            group_id=group_id,
        )

    def _group(self, group_id: str) -> ConsumerGroup:
        group = self._context.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no consumer group {group_id}")
        return group

    # ── time, and the log ────────────────────────────────────────────────────────────

    def expired(self, timer: TimerKey, now: Millis) -> Decision[GroupRecord]:
        """A member's session or rebalance timeout is over: it is removed from its group."""
        group = self._context.groups.get(timer.group_id)
        member = group.members.get(timer.member_id) if isinstance(group, ConsumerGroup) else None
        if member is None or (timer.purpose == REBALANCE and not member.revoking):
            return Decision(None)
        assert isinstance(group, ConsumerGroup)
        reason = SESSION_TIMEOUT if timer.purpose == SESSION else REBALANCE_TIMEOUT
        return self._departures.remove(group, [member], None, now, reason)

    def loaded(self, now: Millis) -> None:
        """The log has been read: from now on members must be heard from."""
        self._is_loaded = True
        for group in self._context.groups.values():
            if isinstance(group, ConsumerGroup):
                self._sessions.begin(group, now)

    def replay(self, record: GroupRecord) -> None:
        """Replay a record of a consumer group."""
        groups, group_id = self._context.groups, record.key.group_id
        group = groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            if record.value is None:
                return  # it has become a classic group, or is gone
            group = groups[group_id] = ConsumerGroup(group_id)
        before = group.epoch
        group.replay(record.key, record.value)
        if self._is_loaded and record.value is not None:  # by a decision of this coordinator
            invariant(before <= group.epoch, "a group epoch never goes back", group_id, before, group.epoch)
        if record.value is None and isinstance(record.key, ConsumerGroupMetadataKey):
            del groups[group_id]
