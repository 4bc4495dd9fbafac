"""DescribeAcls (key 29), versions 1-3: the access rules that match a filter.

A null name, principal or host in the filter matches any; 3 is the pattern type LITERAL. Version 3
knows users as a resource. Flexible since 2.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@message(api_key=29, versions=(1, 3), flexible=2)
class DescribeAclsRequest:
    resource_type_filter: int = i8()
    resource_name_filter: str | None = string(nullable=True, default=None)
    pattern_type_filter: int = i8(default=3)
    principal_filter: str | None = string(nullable=True, default=None)
    host_filter: str | None = string(nullable=True, default=None)
    operation: int = i8()
    permission_type: int = i8()


@struct
class AclDescription:
    principal: str = string()
    host: str = string()
    operation: int = i8()
    permission_type: int = i8()


@struct
class DescribeAclsResource:
    resource_type: int = i8()
    resource_name: str = string()
    pattern_type: int = i8(default=3)
    acls: list[AclDescription] = array(AclDescription)


@message(api_key=29, versions=(1, 3), flexible=2)
class DescribeAclsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    resources: list[DescribeAclsResource] = array(DescribeAclsResource)
