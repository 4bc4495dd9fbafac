"""How a classic group gets from one generation to the next.

    prepare      those who wait for an assignment are sent back to join again; all others hear it when they next
                 send a heartbeat
    complete     all have joined, or the rebalance timeout is over: who has not come is left out, a leader and a
                 protocol are chosen, all who wait are told of the new generation
    assign       the leader has said who gets what: it is written, and all who wait get theirs
    sync_overdue those who have not asked for their assignment after another rebalance timeout are left out

The first rebalance of an empty group is put off by group.initial.rebalance.delay.ms, and again when others have
come in the meantime (up to the rebalance timeout), so that a fleet of consumers that starts up rebalances once.

The law here: whoever waits is answered. A member leaves the tables only through `drop` or `fence`, which answer
it; and whoever does not wait has a session that can end.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from andiron.groups.classic.answers import Outcome, joined, synced
from andiron.groups.classic.group import JOIN, SYNC, ClassicGroup, InitialDelay
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.records import written
from andiron.groups.classic.states import ClassicState, GroupEvent
from andiron.groups.group import GroupContext, TimerKey
from andiron.groups.rebalances import ASSIGNMENT, REBALANCE_TIMEOUT
from andiron.groups.sizes import OVERHEAD
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, wall_time
from andiron.model.line import Line
from andiron.model.machine import Promise
from andiron.wire.messages.sync_group import SyncGroupRequestAssignment, SyncGroupResponse

log = logging.getLogger(__name__)

RETRY_MS_MIN = 1000  # clients may ask for a rebalance timeout of nothing


class Rebalance:
    """What moves the groups of a shard through their states."""

    def __init__(self, context: GroupContext) -> None:
        self._settings, self._timers, self._rebalances = context.settings, context.timers, context.rebalances
        self._batch_max = context.batch_max

    # ── towards the next generation ──────────────────────────────────────────────────

    def begin_or_complete(self, group: ClassicGroup, now: Millis, outcome: Outcome, reason: str) -> None:
        """A member has joined, or joined with other protocols: prepare a rebalance, or complete the one under way."""
        if group.state is ClassicState.PREPARING_REBALANCE:
            self.complete_if_all_joined(group, now, outcome)
        else:
            self.prepare(group, now, outcome, reason)

    def prepare(self, group: ClassicGroup, now: Millis, outcome: Outcome, reason: str) -> None:
        """Ask all members to join again."""
        self._rebalances.begins(group.id, reason)
        if group.state is ClassicState.COMPLETING_REBALANCE:
            self._take_back_assignments(group, now, outcome)
        group.unsynced.clear()
        self._timers.cancel(TimerKey(SYNC, group.id))
        initial = group.state is ClassicState.EMPTY
        group.move(GroupEvent.REBALANCE, wall_time(now))
        if initial:
            delay_ms = self._settings.group_initial_rebalance_delay_ms
            group.initial = InitialDelay(max(0, group.rebalance_timeout_ms - delay_ms))
            self._complete_in(group, now, delay_ms)
        elif group.all_have_joined:
            self.complete(group, now, outcome)
        else:
            self._complete_in(group, now, group.rebalance_timeout_ms)

    def _take_back_assignments(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        refusal = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS.number)
        group.assign({})
        for member in group.members.values():
            if outcome.answer_sync(member, refusal):
                group.start_session(member.id, now, member.session_timeout_ms)

    def join_overdue(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """The time to join is over, or the initial delay, which is prolonged for those who come late."""
        if group.state is not ClassicState.PREPARING_REBALANCE:
            return
        initial = group.initial
        if initial is None or not initial.has_newcomers or initial.left_ms == 0:
            return self.complete(group, now, outcome)
        delay_ms = min(self._settings.group_initial_rebalance_delay_ms, initial.left_ms)
        group.initial = InitialDelay(initial.left_ms - delay_ms)
        return self._complete_in(group, now, delay_ms)

    def complete_if_all_joined(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """Complete the rebalance once all members have joined; an initial delay is waited for all the same."""
        if (
            group.state is ClassicState.PREPARING_REBALANCE
            and group.initial is None
            and group.all_have_joined
        ):
            self.complete(group, now, outcome)

    def complete(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """Those who have joined are the next generation, and the static ones too whose sessions have not ended."""
        self._timers.cancel(TimerKey(JOIN, group.id))
        group.initial = None
        for member in [each for each in group.members.values() if each.join is None]:
            if member.instance_id is None:
                self.drop(group, member, outcome)
        if group.members and not group.elect():
            return self._complete_in(group, now, max(RETRY_MS_MIN, group.rebalance_timeout_ms))
        group.begin_generation(now)
        if group.state is ClassicState.EMPTY:
            outcome.records.append(written(group))
            return None
        for member in group.members.values():
            outcome.answer_join(group, member, joined(group, member))
            group.start_session(member.id, now, member.session_timeout_ms)
            member.is_new = False
        return self._timers.set(TimerKey(SYNC, group.id), Millis(now + group.rebalance_timeout_ms))

    def _complete_in(self, group: ClassicGroup, now: Millis, delay_ms: int) -> None:
        self._timers.set(TimerKey(JOIN, group.id), Millis(now + delay_ms))

    # ── towards a stable one ─────────────────────────────────────────────────────────

    def await_sync(self, group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> Promise:
        """A member has asked for its assignment, which is not known yet."""
        outcome.refuse(group, member, ErrorCode.REBALANCE_IN_PROGRESS)  # an earlier request of the same
        member.sync = Promise()
        self.note_sync(group, member)
        return member.sync

    def note_sync(self, group: ClassicGroup, member: ClassicMember) -> None:
        """A member has asked for its assignment; when all have, there is nobody to leave out."""
        group.unsynced.pop(member.id, None)
        if not group.unsynced:
            self._timers.cancel(TimerKey(SYNC, group.id))

    def assign(
        self,
        group: ClassicGroup,
        assignments: Iterable[SyncGroupRequestAssignment],
        now: Millis,
        outcome: Outcome,
    ) -> None:
        """The leader has said who gets what. Members that it has forgotten get nothing."""
        by_member = {each.member_id: each.assignment for each in assignments}
        if self._size(group, by_member) > self._batch_max():
            return self._cannot_assign(group, now, outcome)
        group.assign(by_member)
        group.move(GroupEvent.ASSIGNED, wall_time(now))
        outcome.records.append(written(group))
        for member in group.members.values():
            if outcome.answer_sync(member, synced(group, member)):
                group.start_session(member.id, now, member.session_timeout_ms)
        return None

    def _size(self, group: ClassicGroup, assignments: dict[str, bytes]) -> int:
        """About as many bytes as the group's record will have."""
        return sum(
            OVERHEAD
            + len(member.id)
            + len(member.metadata(group.protocol))
            + len(assignments.get(member.id, b""))
            for member in group.members.values()
        )

    def _cannot_assign(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """Who gets what does not fit into a record: nobody gets it, and all are asked to join again, as by Kafka."""
        log.warning(Line(
            "Group {group} gets no assignment: it is larger than max.message.bytes of __consumer_offsets; raise that",
            group=group.id,
        ))  # fmt: skip
        refusal = SyncGroupResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR.number)
        for member in group.members.values():
            if outcome.answer_sync(member, refusal):
                group.start_session(member.id, now, member.session_timeout_ms)
        self.prepare(group, now, outcome, ASSIGNMENT)

    def sync_overdue(self, group: ClassicGroup, now: Millis, outcome: Outcome) -> None:
        """The time to send SyncGroup is over: members that have not are removed, and the group rebalances."""
        if group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE) and group.unsynced:
            for member_id in list(group.unsynced):
                self.drop(group, group.members[member_id], outcome)
            self.prepare(group, now, outcome, REBALANCE_TIMEOUT)

    # ── members go ───────────────────────────────────────────────────────────────────

    def drop(self, group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> None:
        """Remove a member, and answer what it waits for with UNKNOWN_MEMBER_ID."""
        outcome.refuse(group, member, ErrorCode.UNKNOWN_MEMBER_ID)
        group.remove(member.id)

    def fence(self, group: ClassicGroup, member: ClassicMember, new_id: str, outcome: Outcome) -> None:
        """A static member has come back: the one that it was before is told, if it is still there."""
        outcome.refuse(group, member, ErrorCode.FENCED_INSTANCE_ID)
        group.rename(member, new_id)
        self.note_sync(group, member)

    def member_left(self, group: ClassicGroup, now: Millis, outcome: Outcome, reason: str) -> None:
        """A member has left or fallen silent: rebalance, so that its partitions are assigned to the others."""
        if group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE):
            self.prepare(group, now, outcome, reason)
        else:
            self.complete_if_all_joined(group, now, outcome)
