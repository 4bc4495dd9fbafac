"""Cells are chosen by any part of their names."""

from __future__ import annotations

import pytest

from andiron.chaos.cells import DEFAULT, Cell, ExpectedOutcome, choose
from andiron.cli.failure import Failure


def test_all_of_acks_1_and_all_are_played_by_default() -> None:
    assert choose([]) == DEFAULT
    assert len(DEFAULT) == 8
    assert {cell.acks for cell in DEFAULT} == {"1", "all"}


def test_what_is_left_out_may_be_anything() -> None:
    assert choose(["acks=all,min=2"]) == [Cell("all", 2, False), Cell("all", 2, True)]
    assert choose(["acks=all,min=2,fsync=on", "acks=1,min=1,fsync=off"]) == [
        Cell("1", 1, False),
        Cell("all", 2, True),
    ]


def test_acks_0_is_played_by_who_asks_for_it() -> None:
    assert {cell.acks for cell in choose(["min=1"])} == {"1", "all"}
    assert {cell.acks for cell in choose(["acks=0"])} == {"0"}


@pytest.mark.parametrize("text", ["acks=2", "fsync=maybe", "speed=1", "all", ""])
def test_what_is_no_cell_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="no part of a cell"):
        choose([text])


def test_kafkas_own_name_of_the_setting_is_understood() -> None:
    assert choose(["min.insync.replicas=2,acks=1,fsync=off"]) == [Cell("1", 2, False)]


def test_only_acks_all_must_lose_nothing() -> None:
    assert Cell("all", 1, False).expected is ExpectedOutcome.SAFE
    assert Cell("1", 2, True).expected is ExpectedOutcome.LOSSY


def test_a_topic_is_told_how_many_and_whether_on_the_disk() -> None:
    assert Cell("all", 2, True).topic_settings() == {
        "min.insync.replicas": "2",
        "retention.ms": "-1",
        "flush.messages": "1",
    }
    assert "flush.messages" not in Cell("all", 2, False).topic_settings()
