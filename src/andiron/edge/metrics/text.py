"""Prometheus' text format, version 0.0.4: two lines of heading for a metric, then one line a sample.

    # HELP andiron_partitions Partitions that have a replica here. Kafka: kafka.server:type=…
    # TYPE andiron_partitions gauge
    andiron_partitions 12

All samples of a metric stand together, and they come out in pieces of a few hundred lines, so that whoever sends them
can do something else in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from andiron.edge.metrics.families import HISTOGRAM, Family, Sample

if TYPE_CHECKING:
    from andiron.edge.metrics.meter import Histogram
    from andiron.edge.metrics.survey import Survey

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LINES = 500  # in a piece

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def escaped(value: str) -> str:
    """A label's value as it stands between quotes."""
    return value.translate(_ESCAPES)


def inner(**labels: object) -> str:
    """Labels without braces."""
    return ",".join(f'{name}="{escaped(str(value))}"' for name, value in labels.items())


def labelled(**labels: object) -> str:
    """Labels as they stand behind a name."""
    return f"{{{inner(**labels)}}}"


def render(families: Iterable[Family], survey: Survey) -> Iterator[bytes]:
    """All metrics of a survey, a piece at a time."""
    for family in families:
        yield head(family).encode()
        samples = iter(family.samples(survey))
        while piece := list(islice(samples, LINES)):
            yield (histogram_lines if family.kind == HISTOGRAM else lines)(family.name, piece).encode()


def head(family: Family) -> str:
    """The two lines above the samples."""
    meaning = family.help.replace("\\", "\\\\").replace("\n", "\\n")
    return f"# HELP {family.name} {meaning}\n# TYPE {family.name} {family.kind}\n"


def lines(name: str, samples: Iterable[Sample]) -> str:
    """One line a sample."""
    return "".join([f"{name}{labels} {value}\n" for labels, value in samples])


def histogram_lines(name: str, samples: Iterable[Sample]) -> str:
    """One line a bucket, each with all that are in the buckets before it, then the sum and the count."""
    return "".join([_one_histogram(name, labels, histogram) for labels, histogram in samples])


def _one_histogram(name: str, labels: str, histogram: Histogram) -> str:
    before, told, total = f"{labels}," if labels else "", [], 0
    for bound, count in zip((*histogram.bounds, "+Inf"), histogram.counts, strict=True):
        total += count
        told.append(f'{name}_bucket{{{before}le="{bound}"}} {total}\n')
    braced = f"{{{labels}}}" if labels else ""
    return "".join(told) + f"{name}_sum{braced} {histogram.sum}\n{name}_count{braced} {total}\n"
