"""ApiVersions (key 18), versions 0-4: which APIs and versions a broker speaks.

The first request on every connection, so it must be understood whatever its version: a broker
that does not know it answers in version 0 with an error and the range of this one API. For the
same reason the response's header never has a tagged section (header.py). Version 3 is flexible
and adds the client's name and the cluster's features; 4 allows features that begin at 0.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, string, struct


@message(api_key=18, versions=(0, 4), flexible=3)
class ApiVersionsRequest:
    client_software_name: str = string(since=3)
    client_software_version: str = string(since=3)


@struct
class ApiVersion:
    api_key: int = i16()
    min_version: int = i16()
    max_version: int = i16()


@struct
class SupportedFeatureKey:
    name: str = string()
    min_version: int = i16()
    max_version: int = i16()


@struct
class FinalizedFeatureKey:
    name: str = string()
    max_version_level: int = i16()
    min_version_level: int = i16()


@message(api_key=18, versions=(0, 4), flexible=3)
class ApiVersionsResponse:
    error_code: int = i16()
    api_keys: list[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = i32(since=1)
    supported_features: list[SupportedFeatureKey] = array(SupportedFeatureKey, since=3, tag=0)
    finalized_features_epoch: int = i64(since=3, tag=1, default=-1)
    finalized_features: list[FinalizedFeatureKey] = array(FinalizedFeatureKey, since=3, tag=2)
    zk_migration_ready: bool = boolean(since=3, tag=3)
