"""Subscriptions to the metrics of clients: what they may say, and whom they mean (KIP-714).

    kafka-client-metrics --alter --name slow --metrics org.apache.kafka.producer. --interval 10000 \\
                         --match client_id=web-.*,client_software_name=librdkafka

A subscription is a resource with settings, kept with all others in the metadata. `match` holds what must all be true
of a client, each a regular expression for the whole of it, in the syntax and with the bounds of subscriptions to
topics (model/re2/syntax.py).

Read next: client_telemetry.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from andiron.model.errors import ProtocolError
from andiron.model.re2.pattern import compile_pattern
from andiron.model.settings import HOUR, INT, LIST, MINUTE, rows, topic_setting

ALL = "*"  # as the name of a metric
SELECTORS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
)


def _match_complaint(patterns: tuple[str, ...]) -> str | None:
    for each in patterns:
        selector, equals, pattern = each.partition("=")
        selector = selector.strip()
        if not equals or selector not in SELECTORS:
            return f"{each!r} is not selector=pattern, with one of {', '.join(SELECTORS)}"
        try:
            compile_pattern(pattern.strip())
        except ProtocolError as error:
            return error.detail
    return None


@dataclass(frozen=True, slots=True)
class ClientMetricsConfigs:
    """What a subscription has."""

    metrics: tuple[str, ...] = topic_setting(
        "metrics",
        LIST,
        (),
        "What the names of the wanted metrics begin with; * is all of them, none is none.",
    )
    interval_ms: int = topic_setting(
        "interval.ms",
        INT,
        5 * MINUTE,
        "How often clients push them.",
        least=100,
        most=1 * HOUR,
    )
    match: tuple[str, ...] = topic_setting(
        "match",
        LIST,
        (),
        "Which clients are meant, as selector=pattern; all that are given must match, and none means all clients.",
        check=_match_complaint,
    )


CLIENT_METRICS_ROWS = rows(ClientMetricsConfigs)


def subscription(given: Mapping[str, str]) -> ClientMetricsConfigs:
    """A subscription, from the settings that it was given."""
    known = {name: row for name, row in CLIENT_METRICS_ROWS.items() if name in given}
    return ClientMetricsConfigs(**{row.attribute: row.parse(given[name]) for name, row in known.items()})


def means(wanted: ClientMetricsConfigs, client: Mapping[str, str]) -> bool:
    """Whether a subscription means a client, of which each selector is known."""
    for each in wanted.match:
        selector, _, pattern = each.partition("=")
        if not compile_pattern(pattern.strip()).matches(client[selector.strip()]):
            return False
    return True
