"""The table of a comparison, and the lines it leaves for next month.

A row is one question: what the two answered (the median of the rounds), which direction is better, and how
far Andiron is ahead. `ahead` is always "how many times better": above 1 we lead, whichever way it counts.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import commit

BUSY = 0.3  # of a core, by others, is enough to spoil a figure
WIDTH = 52  # of the rows' names, at least
MARK_MEANS = "* the load generator took most of a core: the figure may be its own"
RESULTS = Path(__file__).with_name("results")


@dataclass
class Row:
    """One question and its answers, by subject and round."""

    name: str
    unit: str
    higher_is_better: bool
    answers: dict[str, list[float]] = field(default_factory=dict)
    limit: float | None = None
    marked: bool = False  # in some round the load generator may have been the limit

    def median(self, subject: str) -> float | None:
        found = self.answers.get(subject)
        return statistics.median(found) if found else None

    def ahead(self, ours: float | None, theirs: float | None) -> float | None:
        """How many times better ours is."""
        if not ours or not theirs:
            return None
        return ours / theirs if self.higher_is_better else theirs / ours


class Report:
    """Rows in the order in which they were first asked, and how busy the machine was before the first."""

    def __init__(self, other: str = "kafka") -> None:
        self.other = other
        self.rows: dict[str, Row] = {}
        self.busy = os.getloadavg()[0]
        if self.busy > BUSY * (os.cpu_count() or 1):
            print(f"others use this machine (load average {self.busy:.1f}): trust no rate, and few ratios")

    def add(self, subject: str, name: str, value: float, unit: str, better: str) -> None:
        row = self.rows.setdefault(name, Row(name, unit, better == "higher"))
        row.answers.setdefault(subject, []).append(value)

    def bound(self, name: str, limit: float) -> None:
        """What the machine itself would answer."""
        if name in self.rows:
            self.rows[name].limit = limit

    def mark(self, name: str) -> None:
        """Say of a row that the load generator took most of a core, and may be what was measured."""
        self.rows[name].marked = True

    def table(self) -> str:
        width = max([WIDTH, *(len(_name(row)) for row in self.rows.values())])
        head = f"{'':{width}} {'better':>7} {'andiron':>11} {self.other:>11} {'ahead':>7} {'limit':>11} {'of limit':>8}"
        foot = [MARK_MEANS] if any(row.marked for row in self.rows.values()) else []
        return "\n".join([head, *(self._line(row, width) for row in self.rows.values()), *foot])

    def _line(self, row: Row, width: int) -> str:
        ours, theirs = row.median("andiron"), row.median(self.other)
        cells = [f"{_name(row):{width}}", f"{'higher' if row.higher_is_better else 'lower':>7}"]
        cells += [f"{_figure(each):>11}" for each in (ours, theirs)]
        cells += [f"{_times(row.ahead(ours, theirs)):>7}", f"{_figure(row.limit):>11}"]
        return " ".join([*cells, f"{_times(row.ahead(ours, row.limit)):>8}"])

    def write(self, bench: str) -> Path:
        """Append a JSON line a row to this benchmark's file."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{bench}.jsonl"
        shared = {"bench": bench, "at": time.strftime("%Y-%m-%dT%H:%M:%S"), "commit": commit()}
        shared |= {"python": platform.python_version(), "machine": platform.machine(), "busy": self.busy}
        with open(path, "a") as out:
            for row in self.rows.values():
                out.write(json.dumps({**shared, "cores": os.cpu_count(), **self._fields(row)}) + "\n")
        return path

    def _fields(self, row: Row) -> dict[str, object]:
        ours, theirs = row.median("andiron"), row.median(self.other)
        return {
            "row": row.name,
            "unit": row.unit,
            "better": "higher" if row.higher_is_better else "lower",
            "andiron": ours,
            self.other: theirs,
            "ahead": row.ahead(ours, theirs),
            "limit": row.limit,
            "marked": row.marked,
            "rounds": row.answers,
        }


def _name(row: Row) -> str:
    return f"{row.name}, {row.unit}{' *' * row.marked}"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}x"
