"""A verdict is about the cell, and about the harness."""

from __future__ import annotations

from andiron.chaos.account import Account, settle
from andiron.chaos.cells import Cell
from andiron.chaos.records import FoundRecord, SentRecord
from andiron.chaos.verdict import judge

ALL, ONE = Cell("all", 2, False), Cell("1", 2, False)


def account(acked: int, found: list[int]) -> Account:
    sent = [SentRecord(0, number, 0.0, 1.0, number) for number in range(acked)]
    return settle(sent, [FoundRecord(0, number, at) for at, number in enumerate(found)])


def test_acks_all_that_lost_nothing_is_safe() -> None:
    assert judge(ALL, account(2, [0, 1])) == (True, "0 of 2 acknowledged records lost: SAFE")


def test_acks_all_that_lost_one_is_not() -> None:
    assert judge(ALL, account(2, [0])) == (False, "1 of 2 acknowledged records lost: NOT SAFE")


def test_an_idempotent_producer_writes_nothing_twice() -> None:
    verdict = judge(ALL, account(2, [0, 1, 1]))

    assert not verdict.good
    assert "1 twice" in verdict.text


def test_acks_1_has_to_lose_something() -> None:
    assert judge(ONE, account(2, [0])) == (True, "1 of 2 acknowledged records lost: as it must be")
    assert not judge(ONE, account(2, [0, 1])).good


def test_who_acknowledged_nothing_has_proved_nothing() -> None:
    assert not judge(ALL, account(0, [])).good
    assert not judge(ONE, account(0, [])).good
