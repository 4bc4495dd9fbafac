"""What clients have pushed is told with the node's own metrics."""

from andiron.broker.telemetry.client_telemetry import shown_id
from andiron.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from andiron.wire.messages.push_telemetry import PushTelemetryRequest
from unit.edge.metrics.scraped import scraped
from unit.wire.test_otlp import attribute, field, metric, pushed
from worlds.node import SmallNode

CLIENT_METRICS = 16


def test_a_clients_metrics_are_told_by_their_names_and_attributes():
    node = SmallNode()
    node.ask(node.alter_request(CLIENT_METRICS, "m", {"metrics": "*"}))
    asked = node.ask(GetTelemetrySubscriptionsRequest(), client_id='web "1"')
    data = pushed(
        metric("a.rate", field(4, 2.5) + attribute("node_id", "1")),
        metric("a.total", field(4, 7.0), kind=7, monotonic=1),
    )
    node.ask(PushTelemetryRequest(asked.client_instance_id, asked.subscription_id, metrics=data))

    found = scraped(node)

    client = f'client_id="web \\"1\\"",client_instance_id="{shown_id(asked.client_instance_id)}",client_software=" "'
    assert found[f'andiron_client_metric{{metric="a.rate",attributes="node_id=1",{client}}}'] == 2.5
    assert found[f'andiron_client_sum_total{{metric="a.total",attributes="",{client}}}'] == 7
    assert found["andiron_client_metrics_instances"] == 1
    assert found["andiron_client_metrics_pushes_total"] == 1
