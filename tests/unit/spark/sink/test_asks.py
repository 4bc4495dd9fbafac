"""What can be asked is known to whoever answers."""

from __future__ import annotations

from typing import get_args

from andiron.spark.sink import asks
from andiron.spark.sink.asks import Ask, Record
from andiron.spark.sink.decisions import Pointer, Sink


def test_every_ask_says_what_is_told() -> None:
    silent = {asks.Terminate, asks.Pause, asks.Reach}

    for each in get_args(Ask):
        assert "→" in str(each.__doc__) or each in silent


def test_a_record_without_a_decision_is_a_registration() -> None:
    record = Record(Sink("q"), (0, 0), Pointer())

    assert record.decision is None
    assert not record.groups
