"""What can be asked is known to whoever answers."""

from __future__ import annotations

from typing import get_args

from andiron.spark.sink import ledger_request
from andiron.spark.sink.decision import Pointer, Sink
from andiron.spark.sink.ledger_request import LedgerRequest, WritePointer


def test_every_ask_says_what_is_told() -> None:
    silent = {ledger_request.AbortTransaction, ledger_request.Pause, ledger_request.ReachStep}

    for each in get_args(LedgerRequest):
        assert "→" in str(each.__doc__) or each in silent


def test_a_record_without_a_decision_is_a_registration() -> None:
    record = WritePointer(Sink("q"), (0, 0), Pointer())

    assert record.decision is None
    assert not record.groups
