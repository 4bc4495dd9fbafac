"""DeleteAcls (key 31), versions 1-3: remove the access rules that match each of the filters.

The answer lists what each filter removed. A null name, principal or host matches any; 3 is the pattern
type LITERAL. Version 3 knows users as a resource. Flexible since 2.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@struct
class DeleteAclsFilter:
    resource_type_filter: int = i8()
    resource_name_filter: str | None = string(nullable=True, default=None)
    pattern_type_filter: int = i8(default=3)
    principal_filter: str | None = string(nullable=True, default=None)
    host_filter: str | None = string(nullable=True, default=None)
    operation: int = i8()
    permission_type: int = i8()


@message(api_key=31, versions=(1, 3), flexible=2)
class DeleteAclsRequest:
    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter)


@struct
class DeleteAclsMatchingAcl:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    resource_type: int = i8()
    resource_name: str = string()
    pattern_type: int = i8(default=3)
    principal: str = string()
    host: str = string()
    operation: int = i8()
    permission_type: int = i8()


@struct
class DeleteAclsFilterResult:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl)


@message(api_key=31, versions=(1, 3), flexible=2)
class DeleteAclsResponse:
    throttle_time_ms: int = i32()
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult)
