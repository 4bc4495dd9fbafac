"""The verdict on a table that was compared with its log: which offsets are missing, double or unknown, in numbers.

Offsets are told in runs, "17, 20-25", and cut where there are many: the first ones say what is wrong.

Read next: verification.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range

RUNS_MAX = 10


class Finding(NamedTuple):
    """One difference between a table and its log."""

    what: str  # missing, duplicated, unknown, gap, count …
    detail: str
    batch: int | None = None
    range: Range | None = None
    offsets: int = 0

    def __str__(self) -> str:
        where = "" if self.batch is None else f"batch {self.batch}"
        if self.range is not None:
            (topic, partition), start, end = self.range
            where += f"{', ' if where else ''}{TopicPartition(topic, partition)} [{start}, {end})"
        return f"{where}: {self.detail}" if where else self.detail

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        told: dict[str, Any] = {"what": self.what, "detail": self.detail, "batch": self.batch}
        if self.range is not None:
            (topic, partition), start, end = self.range
            told |= {"topic": topic, "partition": partition, "start": start, "end": end}
        return told | {"offsets": self.offsets}


@dataclass
class Verdict:
    """How a table and its log compare: the differences, and the numbers beside them."""

    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    batches: int = 0
    offsets: int = 0  # that the ranges span
    records: int = 0  # that the log has in them
    rows: int = 0  # that the table has of them
    dead_letters: int = 0
    gone: int = 0  # offsets of which the log has nothing any more
    late: int = 0
    unjudged: int = 0  # records of which it is not decided yet what becomes of them

    @property
    def agrees(self) -> bool:
        """Whether nothing is wrong, as far as it can be judged."""
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        """The verdict as JSON."""
        numbers = ("batches", "offsets", "records", "rows", "dead_letters", "gone", "late", "unjudged")
        return {
            "agrees": self.agrees,
            **{name: getattr(self, name) for name in numbers},
            "findings": [each.as_json() for each in self.findings],
            "remarks": self.remarks,
        }


def runs(offsets: np.ndarray[Any, Any]) -> str:
    """Offsets in order, as `17, 20-25`, and how many more there are."""
    cuts = np.flatnonzero(np.diff(offsets) != 1) + 1
    groups = np.split(offsets, cuts)
    told = [f"{each[0]}-{each[-1]}" if len(each) > 1 else str(each[0]) for each in groups[:RUNS_MAX]]
    left = len(offsets) - sum(len(each) for each in groups[:RUNS_MAX])
    return ", ".join(told) + (f" and {left} more" if left else "")
