"""ListConfigResources (key 74), versions 0-1: which resources have settings of their own.

Version 0 knew client metrics (type 16) only and was called ListClientMetricsResources; version 1
asks by type, none meaning all. Always flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, i8, i16, i32, message, string, struct


@message(api_key=74, versions=(0, 1), flexible=0)
class ListConfigResourcesRequest:
    resource_types: list[int] = array(i8(), since=1)


@struct
class ConfigResource:
    resource_name: str = string()
    resource_type: int = i8(since=1, default=16)


@message(api_key=74, versions=(0, 1), flexible=0)
class ListConfigResourcesResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    config_resources: list[ConfigResource] = array(ConfigResource)
