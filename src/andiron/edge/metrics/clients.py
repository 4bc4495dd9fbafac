"""Metrics that clients have pushed (KIP-714), as they told them last.

The name of the client's metric is a label, and its attributes are another: names are the clients' to choose, and what
is not known beforehand makes no metrics of its own. A sum that only grows is told as a counter, everything else as a
gauge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from andiron.broker.telemetry.client_telemetry import shown_id
from andiron.edge.metrics.families import Sample, counter, gauge, single
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import labelled

LABELS = ("metric", "attributes", "client_id", "client_instance_id", "client_software")


def of_clients(counters: bool) -> Callable[[Survey], Iterable[Sample]]:
    """What clients told, of one kind."""

    def samples(survey: Survey) -> Iterator[Sample]:
        for client in list(survey.broker.telemetry.clients(survey.host.now)):
            told = {"client_id": client.name, "client_instance_id": shown_id(client.id)}
            told["client_software"] = " ".join(client.software)
            for (metric, attributes), point in client.series.items():
                if point.is_counter == counters:
                    yield labelled(metric=metric, attributes=attributes, **told), point.value

    return samples


FAMILIES = [
    gauge(
        "client_metric", "A metric that a client has pushed, as it told it last.", "", of_clients(False), *LABELS
    ),
    counter(
        "client_sum_total", "A metric that a client has pushed and that only grows, as it told it last.", "",
        of_clients(True), *LABELS,
    ),
    gauge(
        "client_metrics_instances", "Clients that have pushed metrics lately.",
        "kafka.server:type=ClientMetrics,name=ClientMetricsInstanceCount",
        lambda s: single(sum(1 for _ in s.broker.telemetry.clients(s.host.now))),
    ),
    counter(
        "client_metrics_pushes_total", "Pushes of clients' metrics that were taken.",
        "kafka.server:type=ClientMetrics: plugin-export-count", lambda s: single(s.broker.telemetry.pushes),
    ),
    counter(
        "client_metrics_refused_total", "Pushes of clients' metrics that were refused.",
        "kafka.server:type=ClientMetrics: plugin-error-count", lambda s: single(s.broker.telemetry.refused),
    ),
    counter(
        "client_metrics_dropped_total", "Values that clients have pushed and for which there was no room.",
        "", lambda s: single(s.broker.telemetry.dropped),
    ),
]  # fmt: skip
