"""UnregisterBroker (key 64), version 0: a broker that will not come back is struck from the cluster.

Sent by an administrator; a broker passes it on to the controller. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import i16, i32, message, string


@message(api_key=64, versions=(0, 0), flexible=0)
class UnregisterBrokerRequest:
    broker_id: int = i32()


@message(api_key=64, versions=(0, 0), flexible=0)
class UnregisterBrokerResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
