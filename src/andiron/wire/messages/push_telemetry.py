"""PushTelemetry (key 72), version 0: a client's metrics, as OTLP has them (KIP-714).

Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import boolean, data, i8, i16, i32, message, uuid


@message(api_key=72, versions=(0, 0), flexible=0)
class PushTelemetryRequest:
    client_instance_id: bytes = uuid()
    subscription_id: int = i32()
    terminating: bool = boolean()
    compression_type: int = i8()
    metrics: bytes = data()


@message(api_key=72, versions=(0, 0), flexible=0)
class PushTelemetryResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
