"""FindCoordinator (key 10), versions 0-6: which broker keeps a group or a transactional id.

Key types: 0 group, 1 transaction (version 1), 2 share group (version 6). Version 3 is flexible, 4
asks for many keys at once and answers in a list; before it, the one answer stands in the
response itself.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@message(api_key=10, versions=(0, 6), flexible=3)
class FindCoordinatorRequest:
    key: str = string(until=3)
    key_type: int = i8(since=1)
    coordinator_keys: list[str] = array(string(), since=4)


@struct
class Coordinator:
    key: str = string()
    node_id: int = i32()
    host: str = string()
    port: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@message(api_key=10, versions=(0, 6), flexible=3)
class FindCoordinatorResponse:
    throttle_time_ms: int = i32(since=1)
    error_code: int = i16(until=3)
    error_message: str | None = string(since=1, until=3, nullable=1, default=None)
    node_id: int = i32(until=3)
    host: str = string(until=3)
    port: int = i32(until=3)
    coordinators: list[Coordinator] = array(Coordinator, since=4)
