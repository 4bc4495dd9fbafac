"""JoinGroup: a member wants to be part of the next generation of a classic group.

    without an id     a newcomer. A dynamic one is sent back with an id first (MEMBER_ID_REQUIRED, KIP-394): if the
                      answer were lost it would come again as somebody else, and leave a ghost that all wait for.
                      A static one (KIP-345) takes the place of its former self, without a rebalance where it can.
    with an id        a member that has been asked to join again, or that wants to: a leader that joins again wants
                      to assign anew, and a follower that says what it said before is told what it has missed.

A newcomer that has joined counts as alive for five minutes whatever its session timeout is, since it can send no
heartbeat before it is answered; after that it is not waited for any longer.

Read next: rebalance.py.
"""

from __future__ import annotations

from andiron.groups.classic.answers import Outcome, joined
from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember, protocols_of
from andiron.groups.classic.rebalance import Rebalance
from andiron.groups.classic.records import written
from andiron.groups.classic.states import ClassicState
from andiron.groups.group import GroupContext
from andiron.groups.rebalances import JOIN, METADATA, SUBSCRIPTION
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.model.machine import CoordinatorRequest, Promise
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

MEMBER_ID_REQUIRED_SINCE = 4
REBALANCE_TIMEOUT_SINCE = 1
SKIP_ASSIGNMENT_SINCE = 9
NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000
GROUP_BATCHES = 4  # of __consumer_offsets: how much protocol metadata all members together may have


class Joining:
    """One JoinGroup request while it is being decided."""

    def __init__(
        self, context: GroupContext, rebalance: Rebalance, asked: CoordinatorRequest, now: Millis
    ) -> None:
        self._context, self._rebalance, self._asked, self._now = context, rebalance, asked, now
        self._request: JoinGroupRequest = asked.body
        self._protocols = protocols_of(self._request.protocols)
        self.outcome = Outcome()

    def into(self, group: ClassicGroup) -> JoinGroupResponse | Promise:
        """Join this group, or be refused."""
        request = self._request
        member = group.static_member(request.group_instance_id) or group.members.get(request.member_id)
        if not self._fits(group, member):
            return self._turn_away(group, member)
        if not group.supports(request.protocol_type, self._protocols):
            raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(
                f"group {group.id} of type {group.protocol_type!r} has no protocol in common with"
                f" {list(self._protocols)} of type {request.protocol_type!r}"
            )
        return self._as_known(group) if request.member_id else self._as_newcomer(group)

    def _fits(self, group: ClassicGroup, member: ClassicMember | None) -> bool:
        """A group that is rebalancing takes in who comes first, up to its size; another one only who is in it. All
        its members together are written in one batch, with one of the protocols that they name."""
        size_max = self._context.settings.group_max_size
        if member is None and group.metadata_bytes > GROUP_BATCHES * self._context.batch_max():
            return False
        if group.state is ClassicState.PREPARING_REBALANCE:
            return group.joining < size_max or (member is not None and member.join is not None)
        return len(group.members) < size_max or member is not None

    def _turn_away(self, group: ClassicGroup, member: ClassicMember | None) -> JoinGroupResponse:
        """Refuse a member with GROUP_MAX_SIZE_REACHED: the group is full, and no rebalance waits for this one."""
        if member is None or member.id == self._request.member_id:
            group.remove(self._request.member_id)
            self._rebalance.complete_if_all_joined(group, self._now, self.outcome)
        return JoinGroupResponse(error_code=ErrorCode.GROUP_MAX_SIZE_REACHED.number)

    # ── newcomers ────────────────────────────────────────────────────────────────────

    def _as_newcomer(self, group: ClassicGroup) -> JoinGroupResponse | Promise:
        instance_id = self._request.group_instance_id
        member_id = f"{instance_id or self._asked.client_id}-{uuid_text(self._context.chance)}"
        if former := group.static_member(instance_id):
            return self._replace(group, former, member_id)
        if instance_id is None and self._asked.version >= MEMBER_ID_REQUIRED_SINCE:
            group.add_pending(member_id)
            group.start_session(member_id, self._now, self._request.session_timeout_ms)
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED.number, member_id=member_id)
        return self._add(group, member_id)

    def _add(self, group: ClassicGroup, member_id: str) -> Promise:
        request, asked = self._request, self._asked
        member = ClassicMember(
            id=member_id,
            instance_id=request.group_instance_id,
            client_id=asked.client_id,
            client_host=asked.client_host,
            rebalance_timeout_ms=self._rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocols=self._protocols,
            is_new=True,
        )
        if group.initial is not None:
            group.initial.has_newcomers = True
        group.add(member, request.protocol_type)
        promise = group.await_join(member)
        group.start_session(member_id, self._now, NEW_MEMBER_TIMEOUT_MS)
        self._rebalance.begin_or_complete(group, self._now, self.outcome, JOIN)
        return promise

    # ── static members that come back ────────────────────────────────────────────────

    def _replace(
        self, group: ClassicGroup, member: ClassicMember, new_id: str
    ) -> JoinGroupResponse | Promise:
        former_leader = group.leader
        self._rebalance.fence(group, member, new_id, self.outcome)
        member.client_id, member.client_host = self._asked.client_id, self._asked.client_host
        self._update(group, member)
        group.start_session(new_id, self._now, member.session_timeout_ms)
        if group.state is ClassicState.STABLE and group.select_protocol() == group.protocol:
            self.outcome.records.append(written(group))
            return self._back_in_place(group, member, former_leader)
        promise = group.await_join(member)
        self._rebalance.begin_or_complete(group, self._now, self.outcome, JOIN)
        return promise

    def _back_in_place(
        self, group: ClassicGroup, member: ClassicMember, former_leader: str | None
    ) -> JoinGroupResponse:
        """The JoinGroup response of a static member that is back in its generation, which goes on. A leader learns by
        `skip_assignment` (KIP-814) that it need not assign; an older one is told that another leads, or it would."""
        response = joined(group, member)
        if self._asked.version >= SKIP_ASSIGNMENT_SINCE:
            response.skip_assignment = group.leader == member.id
        else:
            response.leader, response.members = former_leader or "", []
        return response

    # ── members ──────────────────────────────────────────────────────────────────────

    def _as_known(self, group: ClassicGroup) -> JoinGroupResponse | Promise:
        request = self._request
        if request.member_id in group.pending and request.group_instance_id is None:
            return self._add(group, request.member_id)
        member = group.check_member(request.member_id, request.group_instance_id)
        assert group.state is not ClassicState.EMPTY, "an empty group has no members"
        unchanged = member.has_protocols(self._protocols)
        leads = group.leader == member.id
        if unchanged and (
            group.state is ClassicState.COMPLETING_REBALANCE
            or (group.state is ClassicState.STABLE and not leads)
        ):
            return joined(group, member)
        return self._rejoin(group, member, METADATA if unchanged else SUBSCRIPTION)

    def _rejoin(self, group: ClassicGroup, member: ClassicMember, reason: str) -> Promise:
        self.outcome.refuse(group, member, ErrorCode.REBALANCE_IN_PROGRESS)  # an earlier request of the same
        self._update(group, member)
        promise = group.await_join(member)
        self._rebalance.begin_or_complete(group, self._now, self.outcome, reason)
        return promise

    def _update(self, group: ClassicGroup, member: ClassicMember) -> None:
        group.update(member, self._protocols)
        member.rebalance_timeout_ms = self._rebalance_timeout_ms
        member.session_timeout_ms = self._request.session_timeout_ms

    @property
    def _rebalance_timeout_ms(self) -> int:
        request = self._request
        asked_for_one = self._asked.version >= REBALANCE_TIMEOUT_SINCE
        return request.rebalance_timeout_ms if asked_for_one else request.session_timeout_ms


def uuid_text(chance: Chance) -> str:
    """A random UUID, written as Java writes one."""
    text = chance.uuid().hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
