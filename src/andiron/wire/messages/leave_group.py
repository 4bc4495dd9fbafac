"""LeaveGroup (key 13), versions 0-5: members of a classic group go.

From version 3 on it names several members, static ones too (KIP-345), each answered by itself; 5 takes a
reason (KIP-800).
Flexible since 4.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct


@struct
class MemberIdentity:
    member_id: str = string()
    group_instance_id: str | None = string(nullable=True, default=None)
    reason: str | None = string(since=5, nullable=5, default=None)


@message(api_key=13, versions=(0, 5), flexible=4)
class LeaveGroupRequest:
    group_id: str = string()
    member_id: str = string(until=2)
    members: list[MemberIdentity] = array(MemberIdentity, since=3)


@struct
class MemberResponse:
    member_id: str = string()
    group_instance_id: str | None = string(nullable=True, default=None)
    error_code: int = i16()


@message(api_key=13, versions=(0, 5), flexible=4)
class LeaveGroupResponse:
    throttle_time_ms: int = i32(since=1)
    error_code: int = i16()
    members: list[MemberResponse] = array(MemberResponse, since=3)
