"""A coordinator of classic groups with its log and a clock that stands still until it is moved.

`run` does what broker/coordinators/shard.py does: decide, append, replay, answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.protocol import ClassicProtocol
from andiron.groups.group import GroupContext, TimerKey
from andiron.groups.records import GroupRecord, decode_record, encode_record
from andiron.groups.settings import GroupSettings
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.machine import CoordinatorRequest, Decision, Promise
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

GROUP = "g"
SESSION_MS, REBALANCE_MS, DELAY_MS = 10_000, 60_000, 3_000


class NoTopics:
    """The topics of a cluster that has none."""

    version = 0

    def named(self, name: str) -> Topic | None:
        return None

    def identified(self, id: bytes) -> Topic | None:
        return None

    def names(self) -> list[str]:
        return []


def context_of(settings: GroupSettings | None = None, seed: int = 0) -> GroupContext:
    return GroupContext(settings or GroupSettings(), NoTopics(), Chance(seed), lambda group: {})


BATCH_MAX = 10_000  # bytes of the largest batch that can be written


class Classic:
    """The classic groups of a shard."""

    def __init__(
        self, log: list[GroupRecord] | None = None, now: int = 0, seed: int = 0, **settings: int
    ) -> None:
        self.context = context_of(GroupSettings(**settings), seed)
        self.context.batch_max = lambda: BATCH_MAX
        self.protocol = ClassicProtocol(self.context)
        self.log = log or []
        self.now = Millis(now)
        self.kept: list[Promise] = []  # by the latest decision
        for record in self.log:
            self.protocol.replay(_reread(record))
        self.protocol.loaded(self.now)

    def group(self, group_id: str = GROUP) -> ClassicGroup:
        group = self.context.groups[group_id]
        assert isinstance(group, ClassicGroup)
        return group

    # ── requests ─────────────────────────────────────────────────────────────────────

    def ask(
        self, decide: Callable[[CoordinatorRequest, Millis], Decision[GroupRecord]], body: Any, version: int
    ) -> Any:
        return self._settle(decide(CoordinatorRequest(body, version, "client", "/1.2.3.4"), self.now))

    def join(
        self,
        member_id: str = "",
        protocols: dict[str, bytes] | None = None,
        *,
        instance: str | None = None,
        version: int = 9,
        protocol_type: str = "consumer",
        session_ms: int = SESSION_MS,
        rebalance_ms: int = REBALANCE_MS,
        group: str = GROUP,
    ) -> Any:
        named = {"range": b"r", "robin": b"b"} if protocols is None else protocols
        offered = [JoinGroupRequestProtocol(name, metadata) for name, metadata in named.items()]
        request = JoinGroupRequest(
            group, session_ms, rebalance_ms, member_id, instance, protocol_type, offered
        )
        return self.ask(self.protocol.join, request, version)

    def arrive(self, protocols: dict[str, bytes] | None = None, **said: Any) -> tuple[str, Any]:
        """A newcomer joins, in two steps if it must: its id, and the answer to the second one."""
        answer = self.join("", protocols, **said)
        if isinstance(answer, JoinGroupResponse) and answer.error_code == ErrorCode.MEMBER_ID_REQUIRED.number:
            return answer.member_id, self.join(answer.member_id, protocols, **said)
        return list(self.group(said.get("group", GROUP)).members)[-1], answer

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        instance: str | None = None,
        version: int = 5,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        group: str = GROUP,
    ) -> Any:
        assigned = [SyncGroupRequestAssignment(*each) for each in (assignments or {}).items()]
        request = SyncGroupRequest(group, generation, member_id, instance, protocol_type, protocol, assigned)
        return self.ask(self.protocol.sync, request, version)

    def heartbeat(
        self, member_id: str, generation: int, *, instance: str | None = None, group: str = GROUP
    ) -> ErrorCode:
        request = HeartbeatRequest(group, generation, member_id, instance)
        return error_of(self.ask(self.protocol.heartbeat, request, 4))

    def leave(self, *member_ids: str, group: str = GROUP) -> list[ErrorCode]:
        request = LeaveGroupRequest(group, "", [MemberIdentity(each) for each in member_ids])
        return [error_of(each) for each in self.ask(self.protocol.leave, request, 5).members]

    # ── longer stories ───────────────────────────────────────────────────────────────

    def stable(self, count: int, **said: Any) -> list[str]:
        """So many newcomers, all of one generation in which each has got its own name; the first one leads."""
        members = [self.arrive(**said)[0] for _ in range(count)]
        self.pass_time(2 * DELAY_MS)
        self.sync_all()
        return members

    def sync_all(self) -> None:
        """All members ask for their assignment, the leader last: each gets its own name."""
        group = self.group()
        members = sorted(group.members, key=lambda each: each == group.leader)
        for member_id in members:
            everything = {each: each.encode() for each in members} if member_id == group.leader else {}
            self.sync(member_id, group.generation, everything, protocol=group.protocol)

    # ── time ─────────────────────────────────────────────────────────────────────────

    def pass_time(self, by_ms: int) -> None:
        """Let the clock run, and do at each deadline what is due."""
        until = Millis(self.now + by_ms)
        while (due := self.context.timers.next_deadline()) <= until:
            self.now = max(self.now, due)
            self.expire_one()
        self.now = until

    def expire_one(self) -> TimerKey:
        timer = self.context.timers.take(self.now)
        assert timer is not None
        self._settle(self.protocol.expired(timer, self.now))
        return timer

    def _settle(self, decision: Decision[GroupRecord]) -> Any:
        assert not (decision.records and decision.firm), "it has touched what is soft"
        for record in decision.records:
            self.log.append(record)
            self.protocol.replay(_reread(record))
        self.kept = decision.kept
        assert all(promise.kept for promise in self.kept)
        self._check_joined([decision.response, *(promise.response for promise in self.kept)])
        return decision.response

    def _check_joined(self, told: list[Any]) -> None:
        """Those who are told of a generation by one decision are told of the same one."""
        joined = [each for each in told if isinstance(each, JoinGroupResponse) and not each.error_code]
        if len(joined) > 1:
            ((generation, protocol, leader),) = {
                (each.generation_id, each.protocol_name, each.leader) for each in joined
            }
            group = self.group()
            assert (generation, protocol, leader) == (group.generation, group.protocol, group.leader)
            (by_leader,) = [each for each in joined if each.members]
            assert by_leader.member_id == leader
            assert [each.member_id for each in by_leader.members] == list(group.members)

    def made_again(self) -> Classic:
        """The coordinator that another broker makes of the same log."""
        return Classic(list(self.log))


def _reread(record: GroupRecord) -> GroupRecord:
    again = decode_record(*encode_record(record))
    assert again == record
    return again


def error_of(response: Any) -> ErrorCode:
    """The error that a response carries."""
    return next(code for code in ErrorCode if code.number == response.error_code)


def refusal(ask: Callable[[], Any]) -> ErrorCode:
    """The error with which a request is refused."""
    try:
        response = ask()
    except ProtocolError as error:
        return error.code
    return error_of(response)


def answer(promise: Any) -> Any:
    """What a request was answered, now or meanwhile."""
    if isinstance(promise, Promise):
        assert promise.kept, "it has not been answered"
        return promise.response
    return promise
