"""DeleteGroups (key 42), versions 0-2: forget empty groups and their offsets.

Flexible since 2.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct


@message(api_key=42, versions=(0, 2), flexible=2)
class DeleteGroupsRequest:
    groups_names: list[str] = array(string())


@struct
class DeletableGroupResult:
    group_id: str = string()
    error_code: int = i16()


@message(api_key=42, versions=(0, 2), flexible=2)
class DeleteGroupsResponse:
    throttle_time_ms: int = i32()
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
