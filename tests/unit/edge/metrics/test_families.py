from __future__ import annotations

import pytest

from andiron.edge.metrics.families import COUNTER, as_markdown, counter, gauge, histogram, single


def test_a_row_has_the_prefix_and_says_what_kafka_calls_it():
    row = gauge("partitions", "Partitions here.", "kafka.server:type=X", lambda s: single(1), "topic")

    assert row.name == "andiron_partitions"
    assert row.help == "Partitions here. Kafka: kafka.server:type=X"
    assert row.labels == ("topic",)


def test_what_kafka_does_not_have_says_so():
    assert gauge("x", "X.", "", lambda s: single(1)).help == "X. Kafka has no such metric."


def test_names_end_as_prometheus_wants_it():
    assert counter("x_total", "X.", "", lambda s: single(1)).kind == COUNTER
    with pytest.raises(AssertionError):
        counter("x", "X.", "", lambda s: single(1))
    with pytest.raises(AssertionError):
        histogram("x_ms", "X.", "", lambda s: single(1))


def test_the_reference_has_a_row_each():
    told = as_markdown(
        [gauge("x", "X.", "k", lambda s: single(1), "a", "b"), gauge("y", "Y.", "", lambda s: [])]
    )

    assert told.splitlines()[2:] == [
        "| `andiron_x` | gauge | a, b | X. | `k` |",
        "| `andiron_y` | gauge |  | Y. |  |",
    ]
