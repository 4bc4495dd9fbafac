from __future__ import annotations

from andiron.log.abort_index import AbortedTransaction
from andiron.log.cleaned_transactions import CleanedTransactions
from andiron.records.batch import Batch
from andiron.records.builder import build, retain
from andiron.records.control import ControlType, control_batch, end_marker
from andiron.records.record import Record


def data(offset, producer=7, transactional=True):
    records = [Record(0, 1, b"k", b"v")]
    return Batch(
        build(
            records,
            base_offset=offset,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            transactional=transactional,
        )
    )


def marker(offset, producer=7, committed=False):
    return Batch(
        end_marker(
            committed,
            producer_id=producer,
            producer_epoch=0,
            coordinator_epoch=0,
            timestamp=1,
            base_offset=offset,
        )
    )


def test_data_of_an_aborted_transaction_are_known_by_producer_and_offset():
    transactions = CleanedTransactions([AbortedTransaction(7, 2, 4, 5)])

    assert not transactions.is_aborted(data(0))
    assert not transactions.is_spent(marker(1, committed=True))
    assert transactions.is_aborted(data(2))
    assert not transactions.is_aborted(data(3, producer=9))
    assert not transactions.is_spent(marker(4))
    assert not transactions.is_aborted(data(5))


def test_records_outside_of_transactions_are_never_aborted():
    transactions = CleanedTransactions([AbortedTransaction(7, 0, 4, 5)])

    assert not transactions.is_aborted(data(1, transactional=False))


def test_a_marker_is_spent_once_no_data_of_its_transaction_were_seen():
    transactions = CleanedTransactions([AbortedTransaction(7, 0, 4, 5)])

    assert transactions.is_spent(marker(4))
    assert transactions.is_spent(marker(5, producer=9, committed=True))


def test_each_marker_answers_for_its_own_transaction():
    transactions = CleanedTransactions([AbortedTransaction(7, 10, 14, 15), AbortedTransaction(7, 0, 4, 5)])

    assert transactions.is_aborted(data(1))
    assert not transactions.is_spent(marker(4))
    assert not transactions.is_aborted(data(6))
    assert not transactions.is_spent(marker(7, committed=True))
    assert transactions.is_spent(marker(14))


def test_an_aborted_transaction_stays_in_the_index_while_its_data_are_seen():
    aborted = AbortedTransaction(7, 0, 4, 5)
    transactions = CleanedTransactions([aborted])

    transactions.is_aborted(data(0))
    transactions.is_spent(marker(4))
    assert transactions.ended == aborted
    transactions.is_spent(marker(5, producer=9))
    assert transactions.ended is None


def test_a_marker_whose_record_is_gone_is_spent():
    kept_for_its_header = Batch(retain(marker(4), b"", ()))

    assert CleanedTransactions([]).is_spent(kept_for_its_header)


def test_control_records_of_other_kinds_are_never_spent():
    change = Batch(control_batch([(ControlType.LEADER_CHANGE, b"")], timestamp=1))

    assert not CleanedTransactions([]).is_spent(change)
