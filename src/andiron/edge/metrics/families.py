"""What a metric is: a row of a table, from which the text, the reference and the tests are read off.

    gauge("andiron_partitions", "Partitions that have a replica here.",
          "kafka.server:type=ReplicaManager,name=PartitionCount", lambda survey: single(survey.totals.partitions))

Names follow Prometheus (a unit at the end, `_total` for what only grows); the meaning is Kafka's wherever Kafka has the
metric, and the row says by which MBean. A sample is its labels as they stand in the text, and a value; most rows have a
single one without labels.

Read next: catalog.py for the rows, survey.py for what they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from andiron.edge.metrics.survey import Survey

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"
PREFIX = "andiron_"

# Labels in braces or nothing; a number, or a Histogram with its labels without braces
Sample = tuple[str, Any]
Samples = Callable[["Survey"], Iterable[Sample]]


class Family(NamedTuple):
    """One metric, with all its labels."""

    name: str
    kind: str
    meaning: str
    kafka: str  # its MBean; empty if Kafka has nothing of the kind
    samples: Samples
    labels: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """What the text says of it."""
        return (
            f"{self.meaning} Kafka: {self.kafka}"
            if self.kafka
            else f"{self.meaning} Kafka has no such metric."
        )


def gauge(name: str, meaning: str, kafka: str, samples: Samples, *labels: str) -> Family:
    """A value that goes up and down."""
    return Family(PREFIX + name, GAUGE, meaning, kafka, samples, labels)


def counter(name: str, meaning: str, kafka: str, samples: Samples, *labels: str) -> Family:
    """A value that only grows, from 0 at the start of the node."""
    assert name.endswith("_total")
    return Family(PREFIX + name, COUNTER, meaning, kafka, samples, labels)


def histogram(name: str, meaning: str, kafka: str, samples: Samples, *labels: str) -> Family:
    """How many took how long."""
    assert name.endswith("_seconds")
    return Family(PREFIX + name, HISTOGRAM, meaning, kafka, samples, labels)


def single(value: float) -> list[Sample]:
    """One sample without labels."""
    return [("", value)]


def as_markdown(families: Iterable[Family]) -> str:
    """The reference of some of them, for docs/metrics.md."""
    lines = ["| metric | kind | labels | meaning | in Kafka |", "| --- | --- | --- | --- | --- |"]
    for each in families:
        kafka = f"`{each.kafka}`" if each.kafka else ""
        labels = ", ".join(each.labels)
        lines.append(f"| `{each.name}` | {each.kind} | {labels} | {each.meaning} | {kafka} |")
    return "\n".join(lines)
