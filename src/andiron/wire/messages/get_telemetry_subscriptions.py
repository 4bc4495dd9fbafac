"""GetTelemetrySubscriptions (key 71), version 0: which of its metrics a client is asked to push (KIP-714).

A client that has no id yet sends zeros and is given one. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, uuid


@message(api_key=71, versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsRequest:
    client_instance_id: bytes = uuid()


@message(api_key=71, versions=(0, 0), flexible=0)
class GetTelemetrySubscriptionsResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    client_instance_id: bytes = uuid()
    subscription_id: int = i32()
    accepted_compression_types: list[int] = array(i8())
    push_interval_ms: int = i32()
    telemetry_max_bytes: int = i32()
    delta_temporality: bool = boolean()
    requested_metrics: list[str] = array(string())
