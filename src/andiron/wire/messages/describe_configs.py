"""DescribeConfigs (key 32), versions 1-4: the settings of topics, brokers and groups.

Null for `configuration_keys` asks for all. Version 3 adds types and documentation, 4 is flexible.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct


@struct
class DescribeConfigsResource:
    resource_type: int = i8()
    resource_name: str = string()
    configuration_keys: list[str] | None = array(string(), nullable=True)


@message(api_key=32, versions=(1, 4), flexible=4)
class DescribeConfigsRequest:
    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource)
    include_synonyms: bool = boolean()
    include_documentation: bool = boolean(since=3)


@struct
class DescribeConfigsSynonym:
    name: str = string()
    value: str | None = string(nullable=True)
    source: int = i8()


@struct
class DescribeConfigsResourceResult:
    name: str = string()
    value: str | None = string(nullable=True)
    read_only: bool = boolean()
    config_source: int = i8(default=-1)
    is_sensitive: bool = boolean()
    synonyms: list[DescribeConfigsSynonym] = array(DescribeConfigsSynonym)
    config_type: int = i8(since=3)
    documentation: str | None = string(since=3, nullable=True)


@struct
class DescribeConfigsResult:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    resource_type: int = i8()
    resource_name: str = string()
    configs: list[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult)


@message(api_key=32, versions=(1, 4), flexible=4)
class DescribeConfigsResponse:
    throttle_time_ms: int = i32()
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult)
