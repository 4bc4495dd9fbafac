"""Heartbeat (key 12), versions 0-4: a member of a classic group says that it lives.

Version 3 adds static members. Flexible since 4.
"""

from __future__ import annotations

from andiron.wire.schema import i16, i32, message, string


@message(api_key=12, versions=(0, 4), flexible=4)
class HeartbeatRequest:
    group_id: str = string()
    generation_id: int = i32()
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=3, default=None)


@message(api_key=12, versions=(0, 4), flexible=4)
class HeartbeatResponse:
    throttle_time_ms: int = i32(since=1)
    error_code: int = i16()
