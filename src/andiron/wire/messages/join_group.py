"""JoinGroup (key 11), versions 0-9: a member of a classic group enters a rebalance.

Version 1 tells the rebalance timeout apart from the session's, 4 sends a newcomer back with its member
id (KIP-394), 5 adds static members (KIP-345), 7 answers with the protocol type, 8 takes a reason (KIP-800),
9 lets the coordinator tell a rejoining leader that the assignment stands (KIP-814). Flexible since 6.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, data, i16, i32, message, string, struct


@struct
class JoinGroupRequestProtocol:
    name: str = string()
    metadata: bytes = data()


@message(api_key=11, versions=(0, 9), flexible=6)
class JoinGroupRequest:
    group_id: str = string()
    session_timeout_ms: int = i32()
    rebalance_timeout_ms: int = i32(since=1, default=-1)
    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=5, default=None)
    protocol_type: str = string()
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol)
    reason: str | None = string(since=8, nullable=8, default=None)


@struct
class JoinGroupResponseMember:
    member_id: str = string()
    group_instance_id: str | None = string(since=5, nullable=5, default=None)
    metadata: bytes = data()


@message(api_key=11, versions=(0, 9), flexible=6)
class JoinGroupResponse:
    throttle_time_ms: int = i32(since=2)
    error_code: int = i16()
    generation_id: int = i32(default=-1)
    protocol_type: str | None = string(since=7, nullable=7, default=None)
    protocol_name: str | None = string(nullable=7)
    leader: str = string()
    skip_assignment: bool = boolean(since=9)
    member_id: str = string()
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember)
