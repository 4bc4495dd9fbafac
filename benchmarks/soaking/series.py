"""What is looked at during a soak, node by node, and whether it is flat.

A slope is that of the straight line with the least squares through the second half of the samples: the first is a
node that warms up, fills its caches and comes to the size of its retention. It is told per hour, and as a part of the
median, so that megabytes and entries can be read alike.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

MB = 1 << 20
_SAMPLE = re.compile(r"^(\w+)(\{[^}]*\})? ([0-9.e+-]+)$", re.MULTILINE)
_LABEL = re.compile(r'table="([^"]*)"')


@dataclass
class Series:
    """One value of one node over time."""

    name: str
    unit: str
    points: list[tuple[float, float]] = field(default_factory=list)  # seconds, value

    def slope_per_hour(self) -> float:
        """How fast it grows in the second half."""
        late = self.points[len(self.points) // 2 :]
        if len(late) < 2:
            return 0.0
        return statistics.linear_regression(*zip(*late, strict=True)).slope * 3_600

    def median(self) -> float:
        return statistics.median(value for _, value in self.points[len(self.points) // 2 :] or [(0, 0)])


class Watch:
    """One node: its process and its metrics."""

    def __init__(self, name: str, pid: int, metrics_port: int, log: Path) -> None:
        self.name, self._pid, self._log = name, pid, log
        self._url = f"http://localhost:{metrics_port}/metrics"
        self._busy = (0.0, 0.0)
        self._lines = (0.0, 0)
        self.series: dict[str, Series] = {}

    def look(self, at: float) -> None:
        """Take one sample of everything."""
        with urlopen(self._url, timeout=30) as answer:
            told = _SAMPLE.findall(answer.read().decode())
        values = {name: float(value) for name, labels, value in told if not labels}
        self._note("memory", "MB", at, values["process_resident_memory_bytes"] / MB)
        self._note("descriptors", "", at, len(list(Path(f"/proc/{self._pid}/fd").iterdir())))
        for name, labels, value in told:
            if name == "andiron_kept_entries" and (table := _LABEL.search(labels)):
                self._note(table[1], "entries", at, float(value))
        self._note("stood still", "s", at, values["andiron_stood_still_seconds_total"])
        took, count = self._requests(told)
        if count:
            self._note("time of a request", "ms", at, 1_000 * took / count)
        lines = self._log.read_text(errors="replace").count("\n")
        before, self._lines = self._lines, (at, lines)
        if before[0]:
            self._note("lines of the log", "a minute", at, 60 * (lines - before[1]) / (at - before[0]))

    def _requests(self, told: list[tuple[str, str, str]]) -> tuple[float, float]:
        """How long produce requests took since the last sample, and how many they were."""
        now = [
            sum(
                float(value)
                for name, labels, value in told
                if name == f"andiron_request_duration_seconds_{part}" and 'api="Produce"' in labels
            )
            for part in ("sum", "count")
        ]
        before, self._busy = self._busy, (now[0], now[1])
        return now[0] - before[0], now[1] - before[1]

    def _note(self, name: str, unit: str, at: float, value: float) -> None:
        self.series.setdefault(name, Series(name, unit)).points.append((at, value))


def table(watches: list[Watch]) -> str:
    """Median, slope and the most, of every series of every node, as Markdown."""
    rows = ["| node | what | median | most | slope an hour |", "| --- | --- | ---: | ---: | ---: |"]
    for watch in watches:
        for each in watch.series.values():
            most, unit = max(value for _, value in each.points), f" {each.unit}" if each.unit else ""
            slope = each.slope_per_hour()
            rows.append(
                f"| {watch.name} | {each.name} | {each.median():,.1f}{unit} | {most:,.1f} | {slope:+,.1f} |"
            )
    return "\n".join(rows)
