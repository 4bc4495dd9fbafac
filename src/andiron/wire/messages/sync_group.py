"""SyncGroup (key 14), versions 0-5: the leader of a classic group hands in the assignment, all get theirs.

Version 3 adds static members, 5 names the protocol both ways so that either side can notice a
mismatch. Flexible since 4.
"""

from __future__ import annotations

from andiron.wire.schema import array, data, i16, i32, message, string, struct


@struct
class SyncGroupRequestAssignment:
    member_id: str = string()
    assignment: bytes = data()


@message(api_key=14, versions=(0, 5), flexible=4)
class SyncGroupRequest:
    group_id: str = string()
    generation_id: int = i32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    protocol_type: str | None = string(since=5, nullable=5, default=None)
    protocol_name: str | None = string(since=5, nullable=5, default=None)
    assignments: list[SyncGroupRequestAssignment] = array(SyncGroupRequestAssignment)


@message(api_key=14, versions=(0, 5), flexible=4)
class SyncGroupResponse:
    throttle_time_ms: int = i32(since=1)
    error_code: int = i16()
    protocol_type: str | None = string(since=5, nullable=5, default=None)
    protocol_name: str | None = string(since=5, nullable=5, default=None)
    assignment: bytes = data()
