"""AlterConfigs (key 33), versions 0-2: replace all settings of a resource.

What is not named goes back to its default; IncrementalAlterConfigs changes single ones. Version 2
is flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct


@struct
class AlterableConfig:
    name: str = string()
    value: str | None = string(nullable=True)


@struct
class AlterConfigsResource:
    resource_type: int = i8()
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


@message(api_key=33, versions=(0, 2), flexible=2)
class AlterConfigsRequest:
    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()


@struct
class AlterConfigsResourceResponse:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    resource_type: int = i8()
    resource_name: str = string()


@message(api_key=33, versions=(0, 2), flexible=2)
class AlterConfigsResponse:
    throttle_time_ms: int = i32()
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
