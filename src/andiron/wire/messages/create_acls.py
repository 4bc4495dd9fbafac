"""CreateAcls (key 30), versions 1-3: add access rules, each answered in its place.

3 is the pattern type LITERAL. Version 3 knows users as a resource. Flexible since 2.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@struct
class AclCreation:
    resource_type: int = i8()
    resource_name: str = string()
    resource_pattern_type: int = i8(default=3)
    principal: str = string()
    host: str = string()
    operation: int = i8()
    permission_type: int = i8()


@message(api_key=30, versions=(1, 3), flexible=2)
class CreateAclsRequest:
    creations: list[AclCreation] = array(AclCreation)


@struct
class AclCreationResult:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@message(api_key=30, versions=(1, 3), flexible=2)
class CreateAclsResponse:
    throttle_time_ms: int = i32()
    results: list[AclCreationResult] = array(AclCreationResult)
