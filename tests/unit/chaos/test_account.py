"""The account of a cell is arithmetic: what was told beside what is there."""

from __future__ import annotations

import pytest

from andiron.chaos.account import Silence, latency, longest, quantile, settle, silences
from andiron.chaos.records import FoundRecord, SentRecord


def acked(number: int, at: float = 1.0, writer: int = 0) -> SentRecord:
    return SentRecord(writer, number, at - 0.01, at, number)


def given_up(number: int) -> SentRecord:
    return SentRecord(0, number, 1.0, None, -1)


def lies(*numbers: int, writer: int = 0) -> list[FoundRecord]:
    return [FoundRecord(writer, number, at) for at, number in enumerate(numbers)]


def test_what_was_acknowledged_and_is_not_there_is_lost() -> None:
    account = settle([acked(0), acked(1, at=2.0), acked(2, at=3.5)], lies(0))

    assert [each.number for each in account.lost] == [1, 2]
    assert account.loss_window == (2.0, 3.5)


def test_what_was_given_up_is_neither_lost_nor_a_fault_if_it_is_there() -> None:
    account = settle([acked(0), given_up(1), given_up(2)], lies(0, 2))

    assert (account.lost, account.acked, account.surprising) == ([], 1, 1)
    assert account.loss_window is None


def test_every_copy_but_the_first_is_one_too_many() -> None:
    account = settle([acked(0), acked(1)], lies(0, 1, 0, 0))

    assert [each.offset for each in account.duplicated] == [2, 3]
    assert account.reordered == []


def test_a_record_behind_a_later_one_of_its_writer_is_out_of_order() -> None:
    found = [FoundRecord(0, 0, 0), FoundRecord(0, 2, 1), FoundRecord(1, 0, 2), FoundRecord(0, 1, 3)]

    assert [each.offset for each in settle([], found).reordered] == [3]


def test_latency_is_of_those_that_were_acknowledged_in_the_span() -> None:
    sent = [SentRecord(0, at, float(at), at + 0.01 * (at + 1), at) for at in range(10)]

    found = latency(sent, 2.0, 5.0)

    assert found is not None
    assert (found.records, round(found.p50), round(found.most)) == (3, 40, 50)
    assert latency(sent, 20.0, 30.0) is None


def test_a_quantile_of_few_is_one_of_them() -> None:
    assert quantile([1.0, 2.0, 3.0], 0.99) == 3.0
    assert quantile([1.0], 0.5) == 1.0


def test_silence_is_time_without_an_acknowledgement() -> None:
    sent = [acked(0, at=1.0), acked(1, at=1.1), acked(2, at=4.0), given_up(3)]

    found = silences(sent, 0.5, 5.0, least=0.6)

    assert found == [Silence(1.1, 4.0), Silence(4.0, 5.0)]
    assert longest(found) == Silence(1.1, 4.0)
    assert found[0].seconds == pytest.approx(2.9)
    assert longest([]) is None
