"""What readers of committed records see of an answer, and what everybody sees."""

from __future__ import annotations

from andiron.client.core.isolation import Isolation
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.control import ControlType, control_batch, end_marker
from andiron.records.record import Record
from andiron.wire.messages.fetch import AbortedTransaction

A, B = 7, 8


def data(base: int, producer: int = -1, *, count: int = 1, transactional: bool = True) -> Batch:
    records = [Record(0, 1000, None, b"v")] * count
    made = build(records, base_offset=base, producer_id=producer, transactional=transactional)
    return Batch(bytes(made))


def marker(base: int, producer: int, *, commit: bool) -> Batch:
    made = end_marker(
        commit, producer_id=producer, producer_epoch=0, coordinator_epoch=0, timestamp=1000, base_offset=base
    )
    return Batch(bytes(made))


def seen(batches: list[Batch], *aborted: tuple[int, int]) -> list[int]:
    isolation = Isolation([AbortedTransaction(producer, first) for producer, first in aborted])
    return [batch.base_offset for batch in batches if isolation.shows(batch)]


def test_everybody_sees_data_and_nobody_markers() -> None:
    isolation = Isolation()
    batches = [data(0), data(1, A), marker(2, A, commit=False)]

    assert [isolation.shows(batch) for batch in batches] == [True, True, False]


def test_an_aborted_transaction_is_passed_over_up_to_its_marker() -> None:
    batches = [data(0, A), data(1, A), marker(2, A, commit=False), data(3, A), marker(4, A, commit=True)]

    assert seen(batches, (A, 0)) == [3]


def test_others_in_between_are_seen() -> None:
    batches = [
        data(0, A),
        data(1, B),
        data(2),
        data(3, A),
        marker(4, A, commit=False),
        data(5, A),
        data(6, B),
        marker(7, B, commit=True),
        data(8, A),
    ]

    assert seen(batches, (A, 0)) == [1, 2, 5, 6, 8]


def test_one_producer_may_abort_several_times() -> None:
    batches = [
        data(0, A),
        marker(1, A, commit=False),
        data(2, A),
        marker(3, A, commit=True),
        data(4, A),
        marker(5, A, commit=False),
    ]

    assert seen(batches, (A, 4), (A, 0)) == [2]


def test_a_transaction_that_began_in_an_earlier_answer_is_passed_over() -> None:
    assert seen([data(50, A), marker(51, A, commit=False), data(52, A)], (A, 3)) == [52]


def test_what_the_producer_wrote_outside_of_the_transaction_is_seen() -> None:
    batches = [data(0, A, transactional=False), data(1, A), marker(2, A, commit=False)]

    assert seen(batches, (A, 1)) == [0]
    assert seen([data(1, A), data(2, A, transactional=False)], (A, 1)) == [2]


def test_a_transaction_may_begin_within_a_batch_that_compaction_made_larger() -> None:
    assert seen([data(0, A, count=5), marker(6, A, commit=False)], (A, 3)) == []


def test_markers_of_other_kinds_end_nothing() -> None:
    other = control_batch([(ControlType.LEADER_CHANGE, b"")], timestamp=1000, base_offset=1, producer_id=A)

    assert seen([data(0, A), Batch(bytes(other)), data(2, A)], (A, 0)) == []
