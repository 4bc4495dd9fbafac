"""What stands in a metadata transaction counts at its end, in its order, or never."""

from __future__ import annotations

import pytest

from andiron.controller.metadata_transaction import MetadataTransaction
from andiron.controller.records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    MetadataRecord,
)
from andiron.model.errors import ProtocolError
from andiron.model.ids import Offset

ONE, TWO = FeatureLevelRecord("one", 1), FeatureLevelRecord("two", 2)
BEGIN, END, ABORT = BeginTransactionRecord("b"), EndTransactionRecord(), AbortTransactionRecord("a")


def taken(*records: MetadataRecord) -> tuple[MetadataTransaction, list[list[MetadataRecord]]]:
    transaction = MetadataTransaction()
    return transaction, [list(transaction.take(each, Offset(at))) for at, each in enumerate(records)]


def test_outside_of_one_a_record_counts_at_once():
    transaction, counted = taken(ONE, TWO)

    assert counted == [[ONE], [TWO]]
    assert not transaction.is_open


def test_inside_of_one_all_count_when_it_ends():
    transaction, counted = taken(BEGIN, ONE, TWO, END, TWO)

    assert counted == [[], [], [], [ONE, TWO], [TWO]]
    assert not transaction.is_open


def test_what_is_aborted_never_counts():
    assert taken(BEGIN, ONE, ABORT, TWO)[1] == [[], [], [], [TWO]]


def test_one_that_has_not_ended_waits_with_all_that_is_in_it():
    transaction, _ = taken(TWO, BEGIN, ONE)

    assert transaction.waiting == [(BEGIN, 1), (ONE, 2)]
    transaction.forget()
    assert not transaction.is_open


@pytest.mark.parametrize(
    ("records", "trouble"),
    [
        ((BEGIN, ONE, BEGIN), "begins at 2, within the one of 0"),
        ((ONE, END), "ends at 1, and none began"),
        ((ABORT,), "ends at 0, and none began"),
    ],
)
def test_one_within_another_and_an_end_without_a_beginning_are_errors(records, trouble: str):
    with pytest.raises(ProtocolError, match=trouble):
        taken(*records)
