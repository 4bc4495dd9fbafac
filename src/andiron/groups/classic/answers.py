"""The responses to JoinGroup, SyncGroup and DescribeGroups of a classic group, and the decision that gives them.

One request may settle many: the last one to join answers all who wait for the generation, a leader's
assignment goes to all who have asked for theirs. `Outcome` gathers whom a decision answers and what it writes.
"""

from __future__ import annotations

from typing import Any

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.states import ClassicState
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.machine import Decision, Promise
from andiron.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from andiron.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from andiron.wire.messages.sync_group import SyncGroupResponse


class Outcome:
    """A decision that is being made. It has touched what the log does not know: without its records, the
    group must be made again from the log."""

    __slots__ = ("kept", "records")

    def __init__(self) -> None:
        self.records: list[GroupRecord] = []
        self.kept: list[Promise] = []

    def answer_join(self, group: ClassicGroup, member: ClassicMember, response: JoinGroupResponse) -> None:
        """Answer the member's JoinGroup, if it waits for that."""
        self._keep(group.take_join(member), response)

    def answer_sync(self, member: ClassicMember, response: SyncGroupResponse) -> bool:
        """Answer the member's SyncGroup; whether it waited for that."""
        promise, member.sync = member.sync, None
        self._keep(promise, response)
        return promise is not None

    def refuse(self, group: ClassicGroup, member: ClassicMember, error: ErrorCode) -> None:
        """Answer the member's JoinGroup or SyncGroup, whichever it waits for, with this error."""
        self.answer_join(group, member, JoinGroupResponse(error_code=error.number, member_id=member.id))
        self.answer_sync(member, SyncGroupResponse(error_code=error.number))

    def decision(self, response: Any) -> Decision[GroupRecord]:
        """The decision, with this response; of a promise that has been kept meanwhile, with what was promised."""
        if isinstance(response, Promise) and response.kept:
            self.kept.remove(response)
            response = response.response
        return Decision(response, self.records, self.kept, firm=not self.records)

    def _keep(self, promise: Promise | None, response: object) -> None:
        if promise is not None:
            promise.keep(response)
            self.kept.append(promise)


def joined(group: ClassicGroup, member: ClassicMember) -> JoinGroupResponse:
    """The JoinGroup response of a member: its generation. The leader, who assigns, is told of all members."""
    leads = group.leader == member.id
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol or "",
        leader=group.leader or "",
        member_id=member.id,
        members=others(group) if leads else [],
    )


def others(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    """All members with their protocol metadata, for the leader, who assigns."""
    return [
        JoinGroupResponseMember(member.id, member.instance_id, member.metadata(group.protocol))
        for member in group.members.values()
    ]


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    """The SyncGroup response of a member: its assignment."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
    )


def described(group: ClassicGroup) -> DescribedGroup:
    """What anybody may know of a group. Only a stable one has a protocol to show, and metadata of its members."""
    protocol = group.protocol if group.state is ClassicState.STABLE else None
    return DescribedGroup(
        group_id=group.id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=protocol or "",
        members=[
            DescribedGroupMember(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(protocol),
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )
