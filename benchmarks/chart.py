"""How many times better is Andiron than what it stands beside? The README's chart, drawn from what was measured.

    python benchmarks/chart.py                      writes docs/figures.svg anew

A bar to the right of the line is a row in which Andiron is ahead, one to the left a row in which it is not: both are
shown. Lengths are logarithms, so that twice as good and half as good are equally long. Each row is the last of its name
in `results/`, as the benchmark of that name left it; no figure is typed in here.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
CHART = Path(__file__).parents[1] / "docs" / "figures.svg"

# Which benchmark, which row of it, and what a reader calls that. Good and bad rows in the order of the tables.
BESIDE_KAFKA = [
    ("compare", "start", "start until it serves"),
    ("compare", "memory, most", "memory, the most under load"),
    ("compare", "produce, raw, 100 B in 16 KB", "produce, 16 KB batches"),
    ("compare", "produce, librdkafka, 1000 B in 16 KB", "produce by librdkafka, 16 KB batches"),
    ("compare", "produce, librdkafka, 1000 B in 1000 KB", "produce by librdkafka, 1 MB batches"),
    ("compare", "consume, raw, 100 B in 16 KB", "consume, 16 KB batches"),
    ("compare", "consume, librdkafka, 1000 B in 1000 KB", "consume by librdkafka, 1 MB batches"),
    ("compare", "requests, 100 connections", "small requests, 100 connections"),
    ("compare", "produce to consume p99", "produce to consume, p99"),
    ("coordinators", "commits, raw, 16 in flight", "offset commits"),
    ("coordinators", "leave, new protocol, 100: pause, worst", "pause when a member leaves (KIP-848)"),
    ("compare", "serving 1500 MB after kill -9", "back after kill -9, 1.5 GB to look through"),
]
BESIDE_SPARKS_OWN = [
    ("connectors", "batch, topic to noop", "read a batch"),
    ("connectors", "stream, topic to noop", "read a stream"),
    ("connectors", "stream, files to topic, exactly once", "write a stream, exactly once"),
    ("connectors", "a micro-batch of a few records", "a micro-batch of a few records"),
]
PARTS = [
    ("beside Apache Kafka 4.3.1, one node each", BESIDE_KAFKA),
    ("beside Spark's own Kafka connector (which is at least once)", BESIDE_SPARKS_OWN),
]
OTHERS = ("kafka", "stock")
WORDS = {"1/s": "a second", "rows/s": "rows/s"}

WIDTH, ROW, LABELS, FIGURES = 860, 22, 268, 190
EVEN = LABELS + 100  # where neither is ahead
SCALE = (WIDTH - FIGURES - EVEN) / math.log(32)
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#57606a}.head{font-weight:600;fill:#24292f}.end{text-anchor:end}"
    ".ahead{fill:#d9622b}.behind{fill:#7d8590}.even{stroke:#57606a}.grid{stroke:#d0d7de}.note{font-size:11px}"
)


def last_of(bench: str, name: str) -> dict[str, Any]:
    """The row of a benchmark as it was last measured."""
    lines = (RESULTS / f"{bench}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["row"] == name][-1]


def draw() -> str:
    """The whole chart."""
    parts, top, seen = [], 16.0, []
    for title, rows in PARTS:
        parts.append(_text(8, top + 8, title, "head"))
        top += ROW
        bottom = top + ROW * len(rows) - 6
        parts += [_line(EVEN + SCALE * math.log(times), top, bottom, "grid") for times in (2, 4, 8, 16)]
        parts.append(_line(EVEN, top, bottom, "even"))
        for bench, name, label in rows:
            row = last_of(bench, name)
            seen.append(row)
            parts.append(_bar(top, label, row))
            top += ROW
        top += ROW / 2
    sources = sorted({(row["bench"], row["at"][:10], row["commit"]) for row in seen})
    told = ", ".join(f"{bench}.py of {at} ({commit})" for bench, at, commit in sources)
    parts.append(
        _text(8, top + 6, "figures: Andiron / the other. Orange: Andiron is ahead; grey: it is not.", "note")
    )
    parts.append(_text(8, top + 22, f"measured by benchmarks/: {told}", "note"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 32:.0f}" role="img" '
        f'aria-label="how many times better Andiron is"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(parts) + "</svg>\n"
    )


def _bar(top: float, label: str, row: dict[str, Any]) -> str:
    ahead: float = row["ahead"]
    length = SCALE * math.log(ahead)
    left = EVEN + min(0.0, length)
    kind = "ahead" if ahead >= 1 else "behind"
    theirs = next(row[other] for other in OTHERS if other in row)
    unit = WORDS.get(row["unit"], row["unit"])
    bar = f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{abs(length):.1f}" height="13" rx="2"/>'
    times = _text(
        EVEN + max(0.0, length) + 5,
        top + 11,
        f"{ahead:.2f}x" if ahead < 1.05 else f"{ahead:.1f}x" if ahead < 10 else f"{ahead:.0f}x",
    )
    figures = _text(WIDTH - 8, top + 11, f"{_figure(row['andiron'])} / {_figure(theirs)} {unit}", "end")
    return _text(LABELS, top + 11, label, "end") + bar + times + figures


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.2g}"


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def _line(x: float, top: float, bottom: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 2:.1f}" y2="{bottom:.1f}"/>'


if __name__ == "__main__":
    CHART.write_text(draw(), encoding="utf-8")
    print(CHART)
