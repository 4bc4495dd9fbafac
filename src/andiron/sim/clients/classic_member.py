"""A member of a classic group: joins, is told by the leader what to read, and rejoins whenever it is told to.

    JoinGroup ─▶ all are in ─▶ (the leader assigns) ─▶ SyncGroup ─▶ heartbeats and commits
        ▲                                                              │
        └───────── a rebalance, a coordinator that knows it no more ◀──┘

The leader deals the partitions out in ranges. A static member that drops dead comes back under its instance id and
is given what it had; a dynamic one comes back as somebody else, and the group finds out that the old one is gone.
"""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode
from andiron.sim.clients.client import Script, Topic
from andiron.sim.clients.member import COMMITS_WITH_EPOCH, Member
from andiron.sim.clients.patient import Asking
from andiron.wire.consumer_protocol import (
    PROTOCOL_TYPE,
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    versioned_bytes,
)
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

RANGE = "range"


class ClassicMember(Member):
    """One who joins and syncs."""

    def turn(self, topic: Topic) -> Script:
        if self.epoch < 0:
            yield from self._join(topic)
            return
        yield from self.find_places(topic)
        yield from self.insist(
            HeartbeatRequest(self.habits.group, self.epoch, self.member_id, self.habits.instance_id),
            self.chance.choice([3, 4]), _code, of=self.key, again=True, tries=3,
        )  # fmt: skip
        self.may_drop_dead()
        if self.chance.random() < 0.6:
            yield from self.commit(topic, self.chance.randint(7, COMMITS_WITH_EPOCH))
        if self.rounds_are_over():
            yield from self.leave()
            self.begin_anew()

    def was_interrupted(self) -> None:
        self.settled = False
        self.signposts.forget(self.key)

    def was_refused(self, code: ErrorCode) -> Script:
        """Whatever is wrong, it owns nothing until it has joined again."""
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self.commit_late(list(self.positions))
        gone = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)
        member_id = "" if code in gone else self.member_id
        self.begin_anew()
        self.member_id = member_id
        yield self.chance.choice([10, 200, 3_000] if code is ErrorCode.FENCED_INSTANCE_ID else [1, 50])

    def leave(self) -> Script:
        identity = MemberIdentity(self.member_id, self.habits.instance_id)
        request = LeaveGroupRequest(self.habits.group, members=[identity])
        yield from self.insist(request, self.chance.randint(3, 5), _code, of=self.key, again=True, tries=3)

    # ── a generation ─────────────────────────────────────────────────────────────────

    def _join(self, topic: Topic) -> Asking:
        habits = self.habits
        subscription = versioned_bytes(Subscription([topic.name]), 0)
        request = JoinGroupRequest(
            habits.group, habits.session_ms, habits.rebalance_ms, self.member_id, habits.instance_id,
            PROTOCOL_TYPE, [JoinGroupRequestProtocol(RANGE, subscription)],
        )  # fmt: skip
        coordinator = yield from self.at_coordinator(self.key)
        response = yield self.ask(request, self.chance.randint(5, 9), via=coordinator)
        code = ErrorCode.of(response.error_code)
        self.was_sent_away(self.key, code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
        elif code is ErrorCode.NONE:
            self.member_id = response.member_id
            yield from self._sync(topic, response)
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            yield from self.was_refused(code)
        else:
            yield self.chance.choice([50, 200])

    def _sync(self, topic: Topic, joined: Any) -> Asking:
        self.may_drop_dead()
        leads = joined.leader == self.member_id and not joined.skip_assignment
        request = SyncGroupRequest(
            self.habits.group, joined.generation_id, self.member_id, self.habits.instance_id,
            PROTOCOL_TYPE, joined.protocol_name,
            _deal(topic, sorted(member.member_id for member in joined.members)) if leads else [],
        )  # fmt: skip
        version = self.chance.randint(3, 5)
        response = yield from self.insist(request, version, _code, of=self.key, again=False)
        self.epoch, self.settled = joined.generation_id, True
        self.own(
            [
                index
                for one in read_assignment(response.assignment).assigned_partitions
                for index in one.partitions
            ]
        )


def _deal(topic: Topic, members: list[str]) -> list[SyncGroupRequestAssignment]:
    """Each member its share of the partitions, side by side."""
    least, over = divmod(topic.partitions, len(members))
    dealt, begin = [], 0
    for number, member_id in enumerate(members):
        end = begin + least + (number < over)
        share = Assignment([AssignedTopic(topic.name, list(range(begin, end)))])
        dealt.append(SyncGroupRequestAssignment(member_id, versioned_bytes(share, 0)))
        begin = end
    return dealt


def _code(response: Any) -> int:
    return int(response.error_code)
