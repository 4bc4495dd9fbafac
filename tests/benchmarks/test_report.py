"""The table of a comparison: medians, who is ahead, and which rows may be the load generator's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import report


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> report.Report:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    made = report.Report()
    for ours, theirs in ((100.0, 50.0), (300.0, 60.0), (200.0, 70.0)):
        made.add("andiron", "produce", ours, "MB/s", "higher")
        made.add("kafka", "produce", theirs, "MB/s", "higher")
        made.add("andiron", "CPU, produce", 2.0, "s/GB", "lower")
        made.add("kafka", "CPU, produce", 1.0, "s/GB", "lower")
    return made


def line_of(made: report.Report, name: str) -> list[str]:
    return next(line.split() for line in made.table().splitlines() if line.startswith(name))


def test_a_row_is_the_median_of_its_rounds_and_says_who_is_ahead(found: report.Report) -> None:
    assert line_of(found, "produce")[-5:-2] == ["200", "60", "3.33x"]
    assert line_of(found, "CPU, produce")[-3] == "0.50x"


def test_a_row_that_may_be_the_generators_is_marked(found: report.Report) -> None:
    assert report.MARK_MEANS not in found.table()

    found.mark("produce")

    assert "*" in line_of(found, "produce")
    assert "*" not in line_of(found, "CPU, produce")
    assert found.table().endswith(report.MARK_MEANS)
    rows = [json.loads(line) for line in found.write("compare").read_text().splitlines()]
    assert [row["marked"] for row in rows] == [True, False]
