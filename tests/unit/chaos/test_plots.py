"""What was watched is in the plots."""

from __future__ import annotations

from xml.etree import ElementTree

from andiron.chaos import plots
from unit.chaos.samples import outcome


def kinds(drawn: str, tag: str) -> list[str]:
    return [each.attrib.get("class", "") for each in ElementTree.fromstring(drawn).iter(tag)]


def test_each_node_has_a_lane_with_a_piece_for_each_glimpse() -> None:
    pieces = kinds(plots.in_sync(outcome()), "rect")

    assert len(pieces) == 3 * 4
    assert pieces.count("leads") == 4
    assert pieces.count("out") == 1 + 2


def test_latency_shows_two_lines_the_silence_and_the_lost() -> None:
    drawn = plots.latency(outcome(lost=2))

    assert kinds(drawn, "polyline") == ["p99", "p50"]
    assert kinds(drawn, "rect") == ["silence"]
    assert kinds(drawn, "circle") == ["lost", "lost"]


def test_each_cell_has_a_bar_and_its_seconds() -> None:
    drawn = plots.unavailability([outcome("1"), outcome("all", lost=0)])

    assert kinds(drawn, "rect") == ["silence-bar"] * 2
    assert drawn.count("1.5 s") == 2
