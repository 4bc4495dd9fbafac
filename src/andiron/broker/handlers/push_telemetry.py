"""PushTelemetry (key 72), version 0: the metrics that a client was asked for.

They are shown with the node's own (docs/metrics.md) until the client leaves or has been silent for three intervals.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

API = ApiKey.PUSH_TELEMETRY
SERVED = ADVERTISED = (0, 0)


def handle(broker: Broker, request: Request[PushTelemetryRequest]) -> PushTelemetryResponse:
    try:
        broker.telemetry.push(request.body, request)
    except ProtocolError as error:
        return PushTelemetryResponse(error_code=error.code.number)
    return PushTelemetryResponse()
