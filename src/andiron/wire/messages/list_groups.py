"""ListGroups (key 16), versions 0-5: the groups this broker coordinates.

Version 4 filters by state and shows it, 5 does the same with the type (classic, consumer). An empty
filter lets all through. Flexible since 3.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, string, struct


@message(api_key=16, versions=(0, 5), flexible=3)
class ListGroupsRequest:
    states_filter: list[str] = array(string(), since=4)
    types_filter: list[str] = array(string(), since=5)


@struct
class ListedGroup:
    group_id: str = string()
    protocol_type: str = string()
    group_state: str = string(since=4)
    group_type: str = string(since=5)


@message(api_key=16, versions=(0, 5), flexible=3)
class ListGroupsResponse:
    throttle_time_ms: int = i32(since=1)
    error_code: int = i16()
    groups: list[ListedGroup] = array(ListedGroup)
