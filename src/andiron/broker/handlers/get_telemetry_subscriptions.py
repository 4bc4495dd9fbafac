"""GetTelemetrySubscriptions (key 71), version 0: which of its metrics a client is to push, and how often.

Subscriptions are resources of type client-metrics (client_metrics.py). Kafka serves this only where a plugin
takes the metrics; here the node does, and shows them with its own. Clients are asked for totals, not for differences.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.telemetry.client_telemetry import CODECS
from andiron.model.errors import ProtocolError
from andiron.wire.apis import ApiKey
from andiron.wire.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)

API = ApiKey.GET_TELEMETRY_SUBSCRIPTIONS
SERVED = ADVERTISED = (0, 0)


def handle(
    broker: Broker, request: Request[GetTelemetrySubscriptionsRequest]
) -> GetTelemetrySubscriptionsResponse:
    try:
        client = broker.telemetry.subscribe(request.body.client_instance_id, request)
    except ProtocolError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.code.number)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=client.id,
        subscription_id=client.subscription_id,
        accepted_compression_types=list(CODECS),
        push_interval_ms=client.interval_ms,
        telemetry_max_bytes=broker.telemetry.max_bytes,
        delta_temporality=False,
        requested_metrics=list(client.metrics),
    )
