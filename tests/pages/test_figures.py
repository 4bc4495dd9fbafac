"""The chart on the front page is what the benchmarks' results say."""

from __future__ import annotations

import importlib.util

from pages.pages import ROOT


def test_the_chart_is_drawn_from_the_last_results() -> None:
    spec = importlib.util.spec_from_file_location("chart", ROOT / "benchmarks/chart.py")
    assert spec and spec.loader
    chart = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(chart)

    assert chart.CHART.read_text(encoding="utf-8") == chart.draw(), "python benchmarks/chart.py draws it anew"
