"""Share groups (KIP-932) and streams groups (KIP-1071) that Kafka made: not served, kept by name, nothing of them lost.

    types 10 to 15 of __consumer_offsets    the parts of a share group
    types 17 to 23                          the parts of a streams group

What they are stands in the log as Kafka wrote it, and stays: compaction goes by the key, whatever a key says, and no
record of theirs is ever written here. All that is kept in mind is that there is such a group, and who was in it. For
nobody else may take its name: Kafka would find parts of two kinds of groups under one, and could not load the partition
any more. Its offsets must not expire while nobody can commit them. And it is listed, so that people see what they have.

Read next: group.py; shard.py, which sends away who would join one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from andiron.groups.group import Caller, CommitCheck
from andiron.groups.group_memory import GROUP_BYTES, TEXT_BYTES
from andiron.groups.records import PARTS, SHARE, GroupRecord, UnservedGroupKey
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest
from andiron.wire.messages.leave_group import LeaveGroupRequest
from andiron.wire.messages.offset_delete import OffsetDeleteRequest
from andiron.wire.messages.sync_group import SyncGroupRequest

EMPTY, UNKNOWN = "Empty", "Unknown"

# Kafka's error messages for requests to a group of another type.
REFUSALS: Mapping[type, ErrorCode] = {
    JoinGroupRequest: ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    SyncGroupRequest: ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    HeartbeatRequest: ErrorCode.UNKNOWN_MEMBER_ID,
    LeaveGroupRequest: ErrorCode.UNKNOWN_MEMBER_ID,
    ConsumerGroupHeartbeatRequest: ErrorCode.GROUP_ID_NOT_FOUND,
}


class UnservedGroup:
    """A share or streams group: its id, its type, and the ids of its members."""

    def __init__(self, id: str, kind: str) -> None:
        self.id, self.kind, self.protocol_type = id, kind, kind
        self._members: dict[str, None] = {}

    @property
    def state(self) -> str:
        """Empty without members, else Unknown: what state Kafka would compute is not known here."""
        return UNKNOWN if self._members else EMPTY

    def replay(self, key: UnservedGroupKey, value: object | None) -> None:
        """Replay a record of it: of the group itself, or of one of its members."""
        if PARTS[key.type].is_member:
            if value is None:
                self._members.pop(key.member_id, None)
            else:
                self._members[key.member_id] = None

    def refusal(self, request: object) -> ProtocolError | None:
        """The error for who would be a member of it by another protocol, or delete offsets that it cannot have."""
        if self.kind == SHARE and isinstance(request, OffsetDeleteRequest):
            return ErrorCode.GROUP_ID_NOT_FOUND.error(f"{self._name}, and commits no offsets")
        code = REFUSALS.get(type(request))
        return (
            None if code is None else code.error(f"{self._name}, which is kept for Kafka and not served here")
        )

    # ── as any group ─────────────────────────────────────────────────────────────────

    def check_commit(self, caller: Caller, *, transactional: bool, version: int) -> CommitCheck | None:
        """As in Kafka: a share group has no offsets here, and one of streams takes an administrator's while empty."""
        if self.kind == SHARE:
            raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"{self._name}, and commits no offsets")
        if self._members or caller.epoch >= 0:
            raise ErrorCode.UNKNOWN_MEMBER_ID.error(
                f"{self._name}, and {caller.member_id!r} is no member that is served"
            )
        return None

    def check_fetch(self, caller: Caller) -> None:
        """Whoever wants to know how far it has read is told."""

    def heard_from(self, member_id: str, now: Millis) -> None:
        """Nothing: there are no sessions."""

    def is_subscribed_to(self, topic: str) -> bool:
        """What its members read is not known here, so it may be any topic."""
        return bool(self._members)

    def subscribed_topics(self) -> Collection[str]:
        return ()

    def offsets_idle_since(self, topic: str, committed_at: Millis) -> Millis | None:
        """None: its offsets never expire here, and stay for Kafka."""
        return None

    def check_delete(self) -> None:
        if self._members:
            raise ErrorCode.NON_EMPTY_GROUP.error(f"{self._name}, and has members")
        raise ErrorCode.INVALID_REQUEST.error(f"{self._name}, which is kept for Kafka: delete it there")

    def tombstones(self) -> list[GroupRecord]:
        raise AssertionError("it is never deleted here")

    @property
    def bytes_held(self) -> int:
        return GROUP_BYTES + TEXT_BYTES * len(self._members)

    def bytes_held_for(self, member_id: str, instance_id: str | None) -> int | None:
        return TEXT_BYTES if member_id in self._members else None

    @property
    def _name(self) -> str:
        return f"{self.id} is a {self.kind} group"
