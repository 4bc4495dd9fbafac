"""DescribeGroups (key 15), versions 0-6: state and members of classic groups.

Version 3 adds authorized operations (a bit field, unasked for: the least integer), 4 static members,
6 an error message and an error for a group that is not there. Flexible since 5.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, data, i16, i32, message, string, struct


@message(api_key=15, versions=(0, 6), flexible=5)
class DescribeGroupsRequest:
    groups: list[str] = array(string())
    include_authorized_operations: bool = boolean(since=3)


@struct
class DescribedGroupMember:
    member_id: str = string()
    group_instance_id: str | None = string(since=4, nullable=4, default=None)
    client_id: str = string()
    client_host: str = string()
    member_metadata: bytes = data()
    member_assignment: bytes = data()


@struct
class DescribedGroup:
    error_code: int = i16()
    error_message: str | None = string(since=6, nullable=6, default=None)
    group_id: str = string()
    group_state: str = string()
    protocol_type: str = string()
    protocol_data: str = string()
    members: list[DescribedGroupMember] = array(DescribedGroupMember)
    authorized_operations: int = i32(since=3, default=-(1 << 31))


@message(api_key=15, versions=(0, 6), flexible=5)
class DescribeGroupsResponse:
    throttle_time_ms: int = i32(since=1)
    groups: list[DescribedGroup] = array(DescribedGroup)
