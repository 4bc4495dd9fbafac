"""The text is Prometheus' own, to the last quote."""

from __future__ import annotations

from typing import Any, cast

import pytest

from andiron.edge.metrics.families import counter, gauge, histogram, single
from andiron.edge.metrics.meter import Histogram
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import LINES, escaped, head, inner, labelled, render

parser: Any = pytest.importorskip("prometheus_client.parser")
NOTHING = cast(Survey, None)


def text(*families: Any) -> str:
    return b"".join(render(families, NOTHING)).decode()


def read(*families: Any) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What Prometheus' own library makes of it."""
    return {
        (sample.name, tuple(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(text(*families))
        for sample in family.samples
    }


def test_a_metric_has_a_heading_and_its_samples():
    row = gauge("partitions", "Partitions here.", "kafka.x", lambda s: single(3))

    assert text(row) == (
        "# HELP andiron_partitions Partitions here. Kafka: kafka.x\n"
        "# TYPE andiron_partitions gauge\n"
        "andiron_partitions 3\n"
    )


def test_a_metric_without_samples_is_a_heading():
    assert text(gauge("x", "X.", "", lambda s: [])).count("\n") == 2


@pytest.mark.parametrize("value", ['say "x"', "back\\slash", "two\nlines", "\\n", "ünï", ""])
def test_labels_come_back_as_they_were(value):
    row = gauge("x", "X.", "", lambda s: [(labelled(group=value, topic="t"), 1)])

    assert read(row) == {("andiron_x", (("group", value), ("topic", "t"))): 1}


def test_a_heading_is_one_line():
    row = gauge("x", "Two\nlines \\ and more.", "", lambda s: [])
    assert head(row).count("\n") == 2


def test_numbers_of_all_sizes_come_back():
    values = [0, 1, -1, 1 << 60, 0.1, 1e-9, 1e300]
    row = gauge("x", "X.", "", lambda s: [(labelled(n=n), value) for n, value in enumerate(values)])

    assert list(read(row).values()) == [float(value) for value in values]


def test_a_histogram_tells_how_many_took_up_to_so_long():
    seen = Histogram((0.1, 1.0))
    for seconds in (0.05, 0.5, 0.6, 5):
        seen.add(seconds)
    row = histogram("x_seconds", "X.", "", lambda s: [(inner(api="Fetch"), seen)])
    api = ("api", "Fetch")

    assert read(row) == {
        ("andiron_x_seconds_bucket", (api, ("le", "0.1"))): 1,
        ("andiron_x_seconds_bucket", (api, ("le", "1.0"))): 3,
        ("andiron_x_seconds_bucket", (api, ("le", "+Inf"))): 4,
        ("andiron_x_seconds_sum", (api,)): pytest.approx(6.15),
        ("andiron_x_seconds_count", (api,)): 4,
    }


def test_a_histogram_may_have_no_labels():
    row = histogram("x_seconds", "X.", "", lambda s: [("", Histogram((1.0,)))])
    assert 'andiron_x_seconds_bucket{le="1.0"} 0\n' in text(row)
    assert "andiron_x_seconds_count 0\n" in text(row)


def test_many_samples_come_in_pieces():
    row = counter("x_total", "X.", "", lambda s: ((labelled(n=n), n) for n in range(LINES * 2 + 1)))

    assert [piece.count(b"\n") for piece in render([row], NOTHING)] == [2, LINES, LINES, 1]


def test_escapes():
    assert escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'
