"""UpdateFeatures (key 57), versions 0-2: raise or lower the cluster's finalized feature levels.

Version 1 replaces the downgrade flag by an upgrade type (1 upgrade, 2 safe downgrade, 3 unsafe) and adds
the dry run; 2 answers for all features at once. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct


@struct
class FeatureUpdateKey:
    feature: str = string()
    max_version_level: int = i16()
    allow_downgrade: bool = boolean(until=0)
    upgrade_type: int = i8(since=1, default=1)


@message(api_key=57, versions=(0, 2), flexible=0)
class UpdateFeaturesRequest:
    timeout_ms: int = i32(default=60_000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey)
    validate_only: bool = boolean(since=1)


@struct
class UpdatableFeatureResult:
    feature: str = string()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)


@message(api_key=57, versions=(0, 2), flexible=0)
class UpdateFeaturesResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    results: list[UpdatableFeatureResult] = array(UpdatableFeatureResult, until=1)
