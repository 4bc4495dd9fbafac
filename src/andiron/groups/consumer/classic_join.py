"""JoinGroup to a consumer group: what a first heartbeat is to those who speak the new protocol.

It says everything, and what is owned, and is answered at once: the broker assigns, so there is no leader to elect and
nobody to wait for. To such a member its epoch is the generation.

A member that assigns eagerly says when it joins that it owns nothing; a cooperative one (KIP-429) owns what it keeps,
and joins once more when it has given up what it was told to.

If it takes the place of the last member that spoke the new protocol (a static one, restarted), the group becomes a
classic one on the spot.
"""

from __future__ import annotations

from andiron.groups.classic.join import MEMBER_ID_REQUIRED_SINCE, REBALANCE_TIMEOUT_SINCE
from andiron.groups.consumer.change import Change
from andiron.groups.consumer.checks import check_size, new_member_id
from andiron.groups.consumer.departures import Departures
from andiron.groups.consumer.group import STABLE, ConsumerGroup
from andiron.groups.consumer.member import Member, Profile
from andiron.groups.consumer.migration import may_downgrade, owned_partitions
from andiron.groups.consumer.sessions import Sessions
from andiron.groups.group import GroupContext
from andiron.groups.records import ClassicMemberMetadata, ClassicProtocol, GroupRecord
from andiron.groups.settings import GroupSettings
from andiron.model.errors import ErrorCode
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.consumer_protocol import PROTOCOL_TYPE, Subscription, read_subscription
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from andiron.wire.primitives import MalformedMessage

DISABLED = "disabled"


class ClassicJoin:
    """One JoinGroup of a consumer group while it is being decided."""

    def __init__(
        self, context: GroupContext, sessions: Sessions, departures: Departures, change: Change,
        asked: CoordinatorRequest,
    ) -> None:  # fmt: skip
        self._context, self._sessions, self._departures = context, sessions, departures
        self._change, self._group, self._now = change, change.group, change.now
        self._asked = asked
        self._request: JoinGroupRequest = asked.body

    def decide(self) -> Decision[GroupRecord]:
        """Take the member in, or raise the error that its JoinGroup is refused with."""
        request, group = self._request, self._group
        check_policy(group, self._context.settings)
        member_id = request.member_id or new_member_id(self._context.chance)
        check_size(group, member_id, self._context.settings.group_consumer_max_size)
        check_protocols(group, request)
        by_id = request.member_id or request.group_instance_id is not None
        if not by_id and self._asked.version >= MEMBER_ID_REQUIRED_SINCE:
            error = ErrorCode.MEMBER_ID_REQUIRED.number
            return Decision(JoinGroupResponse(error_code=error, member_id=member_id))
        subscription = read(request)
        former = group.static_member(request.group_instance_id)
        before = self._member(member_id, former)
        profile = self._profile(before.profile, subscription)
        if former is not None and former.id != before.id:
            staying = {**group.members, former.id: before._replace(profile=profile)}
            if may_downgrade(list(staying.values()), self._context.settings):
                return self._downgrade(before, profile, subscription, staying, former)
        after = self._change.apply(before, profile, owned_partitions(subscription, self._context.topics))
        if former is not None and former.id != after.id:
            self._sessions.end(group.id, former.id)
        self._sessions.heard(group.id, after, self._now)
        self._sessions.moved(group.id, after, self._now)
        self._sessions.has_joined(group.id, after, self._now)
        return Decision(self._joined(after), self._change.records, firm=False)

    def _member(self, member_id: str, former: Member | None) -> Member:
        group, request = self._group, self._request
        if request.group_instance_id is not None:
            if request.member_id:
                return group.check_static(member_id, request.group_instance_id)
            if former is not None:
                return self._change.replace(former, member_id)
        return group.members.get(member_id) or Member(member_id)

    def _profile(self, old: Profile, subscription: Subscription) -> Profile:
        request = self._request
        asked_for_one = self._asked.version >= REBALANCE_TIMEOUT_SINCE
        protocols = [ClassicProtocol(each.name, each.metadata) for each in request.protocols]
        return Profile(
            instance_id=request.group_instance_id or old.instance_id,
            rack_id=subscription.rack_id or old.rack_id,
            client_id=self._asked.client_id,
            client_host=self._asked.client_host,
            topics=tuple(sorted(set(subscription.topics))),
            pattern="",
            rebalance_timeout_ms=request.rebalance_timeout_ms
            if asked_for_one
            else request.session_timeout_ms,
            assignor=old.assignor,
            classic=ClassicMemberMetadata(request.session_timeout_ms, protocols),
        )

    def _downgrade(
        self, before: Member, profile: Profile, subscription: Subscription,
        staying: dict[str, Member], former: Member,
    ) -> Decision[GroupRecord]:  # fmt: skip
        """All members speak the classic protocol now. Unless all of them have what they should, they are asked to
        join again before any of them is told something else."""
        owned = owned_partitions(subscription, self._context.topics)
        after = self._change.apply_with_last_target(before, profile, owned)
        rebalance = self._change.is_stale or self._group.state != STABLE
        records = self._departures.downgrade(
            self._group, {**staying, former.id: after}, self._now, rebalance=rebalance
        )
        return Decision(self._joined(after), records, firm=False)

    def _joined(self, member: Member) -> JoinGroupResponse:
        return JoinGroupResponse(
            generation_id=member.epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=self._request.protocols[0].name,
            member_id=member.id,
        )


def check_policy(group: ConsumerGroup, settings: GroupSettings) -> None:
    """Raise where group.consumer.migration.policy does not let classic members join a consumer group."""
    if settings.group_consumer_migration_policy.lower() == DISABLED:
        raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(
            f"{group.id} is a consumer group, and is not to be joined by members of the classic protocol"
        )


def check_protocols(group: ConsumerGroup, request: JoinGroupRequest) -> None:
    """Raise INCONSISTENT_GROUP_PROTOCOL for a member without a protocol that all classic members have."""
    others = [member.profile.classic for member in group.members.values() if member.id != request.member_id]
    supported = [
        {protocol.name for protocol in other.supported_protocols} for other in others if other is not None
    ]
    in_common = any(all(each.name in names for names in supported) for each in request.protocols)
    if request.protocol_type != PROTOCOL_TYPE or not in_common:
        raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(
            f"group {group.id} has no protocol in common with {[each.name for each in request.protocols]}"
            f" of type {request.protocol_type!r}"
        )


def read(request: JoinGroupRequest) -> Subscription:
    """The member's subscription, from the metadata of its first protocol."""
    try:
        return read_subscription(request.protocols[0].metadata)
    except MalformedMessage as error:
        raise ErrorCode.INCONSISTENT_GROUP_PROTOCOL.error(
            f"the subscription cannot be read: {error}"
        ) from error
