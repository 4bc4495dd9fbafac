"""IncrementalAlterConfigs (key 44), versions 0-1: change single settings of a resource.

Each change is an operation: 0 set, 1 delete, 2 append to a list, 3 subtract from it. Version 1 is
flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct


@struct
class AlterableConfig:
    name: str = string()
    config_operation: int = i8()
    value: str | None = string(nullable=True)


@struct
class AlterConfigsResource:
    resource_type: int = i8()
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


@message(api_key=44, versions=(0, 1), flexible=1)
class IncrementalAlterConfigsRequest:
    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()


@struct
class AlterConfigsResourceResponse:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    resource_type: int = i8()
    resource_name: str = string()


@message(api_key=44, versions=(0, 1), flexible=1)
class IncrementalAlterConfigsResponse:
    throttle_time_ms: int = i32()
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
