"""The page stands by itself, and says what was found and what was not looked for."""

from __future__ import annotations

import re

from andiron.chaos.report import render
from unit.chaos.samples import SCALING, outcome


def test_nothing_is_loaded_from_anywhere() -> None:
    page = render([outcome()], [SCALING], [])

    assert not re.search(r"<script|<link|src=|url\(|https?:", page)


def test_every_cell_has_its_verdict_and_two_plots() -> None:
    page = render([outcome("1"), outcome("all", lost=0)], [], [])

    assert "2 of 10 acknowledged records lost: as it must be" in page
    assert "0 of 10 acknowledged records lost: SAFE" in page
    assert "every cell showed what it had to show" in page
    assert page.count("<svg") == 1 + 2 * 2


def test_a_cell_that_failed_is_told_at_the_top() -> None:
    page = render([outcome("all", lost=1)], [], [])

    assert "not every cell showed what it had to show" in page
    assert "NOT SAFE" in page


def test_the_loss_window_is_told_with_its_offsets() -> None:
    assert "a window of 1.00 s, offsets 108 to 109" in render([outcome()], [], [])


def test_notes_are_in_it_as_they_are() -> None:
    assert "<li>left out: a &lt; b</li>" in render([outcome()], [], ["left out: a < b"])


def test_pauses_of_a_group_are_told_and_which_partitions_moved() -> None:
    page = render([outcome()], [SCALING], [])

    assert "0: 20, 1: 480*" in page
    assert "scaled from one member to three" not in render([outcome()], [], [])
