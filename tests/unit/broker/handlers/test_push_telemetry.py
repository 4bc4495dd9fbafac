"""What a client is answered that pushes metrics; broker/test_client_telemetry.py has the rest."""

from andiron.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from andiron.wire.messages.push_telemetry import PushTelemetryRequest
from worlds.node import error_of


def test_an_empty_push_is_taken(node):
    asked = node.ask(GetTelemetrySubscriptionsRequest())

    answer = node.ask(PushTelemetryRequest(asked.client_instance_id, asked.subscription_id))

    assert error_of(answer) == "NONE"


def test_a_push_without_a_subscription_is_refused(node):
    assert error_of(node.ask(PushTelemetryRequest(b"i" * 16, 1))) == "UNKNOWN_SUBSCRIPTION_ID"
