"""The auditor is audited: whatever could go wrong with a record is noticed, and nothing else."""

from __future__ import annotations

import pytest

from chaos.audit import Log, Verdict, check_banker, check_reader, check_writer
from chaos.bankers import Banker
from chaos.ledger import Ledger
from chaos.plan import rounds
from chaos.readers import GroupReader


def writer(*acked: tuple[int, int]) -> Ledger:
    """One that was told so of its records in partition 0: number and offset."""
    ledger = Ledger("w")
    for number, offset in acked:
        ledger.acknowledged(0, number, offset)
    return ledger


def log(*numbers: int) -> Log:
    return {0: {offset: f"w:{number}".encode() for offset, number in enumerate(numbers)}}


def found(ledger: Ledger, records: Log) -> set[str]:
    verdict = Verdict()
    check_writer(verdict, ledger, ledger.snapshot(), records)
    return set(verdict.wrong)


def test_a_log_as_it_was_told_is_good() -> None:
    assert found(writer((0, 0), (1, 1)), log(0, 1, 2)) == set()


@pytest.mark.parametrize(
    ("records", "wrong"),
    [
        (log(0), {"lost"}),
        (log(0, 1, 1), {"repeated"}),
        (log(0, 2, 1), {"reordered", "moved"}),
        (log(0, 5, 1), {"reordered", "moved"}),
    ],
)
def test_what_is_wrong_with_records_is_found(records: Log, wrong: set[str]) -> None:
    assert found(writer((0, 0), (1, 1)), records) >= wrong


def banker() -> Banker:
    made = Banker("b", "nowhere:1", "t", 2, 0)
    made.committed, made.aborted, made.unknown = {0: 2, 1: 2}, {2: 2}, {3: 2}
    return made


def accounts(*values: str) -> Log:
    return {0: {at: f"b:{value}".encode() for at, value in enumerate(values)}}


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        (("0:0", "0:1", "1:0", "1:1"), set()),
        (("0:0", "0:1", "1:0", "1:1", "3:0", "3:1"), set()),
        (("0:0", "0:1"), {"lost"}),
        (("0:0", "0:1", "1:0"), {"torn"}),
        (("0:0", "0:1", "1:0", "1:1", "3:0"), {"torn"}),
        (("0:0", "0:1", "1:0", "1:1", "2:0", "2:1"), {"undead"}),
        (("0:0", "0:1", "1:0", "1:1", "1:1"), {"repeated"}),
    ],
)
def test_transactions_are_whole_or_not_there(values: tuple[str, ...], wrong: set[str]) -> None:
    verdict = Verdict()
    check_banker(verdict, banker(), accounts(*values))

    assert set(verdict.wrong) == wrong


def test_a_group_has_seen_every_record_and_none_that_changed() -> None:
    reader = GroupReader("g", "nowhere:1", "t", 1)
    reader.seen = {(0, 0): b"w:0", (0, 1): b"w:9", (0, 3): b"w:3"}
    verdict = Verdict()
    check_reader(verdict, reader, log(0, 1, 2))

    assert {what: len(where) for what, where in verdict.wrong.items()} == {"changed": 2, "unread": 1}


def test_a_seed_plays_the_same_rounds_again() -> None:
    assert list(rounds(7, 30, 4)) == list(rounds(7, 30, 4))
    assert {each.how for each in rounds(7, 60, 4)} >= {"kill", "pause", "cut", "restart", "rolling restart"}
    assert {(each.how, each.whom) for each in rounds(7, 9, 4, "kill leader")} == {("kill", "leader")}
