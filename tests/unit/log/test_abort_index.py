from __future__ import annotations

import pytest

from andiron.log.abort_index import AbortedTransaction, AbortIndex
from andiron.sim.disk import MemoryDisk

FIRST = AbortedTransaction(7, 100, 120, 110)  # while it was open another began at 110
SECOND = AbortedTransaction(8, 110, 130, 131)
THIRD = AbortedTransaction(7, 150, 160, 161)


def index_of(*entries, size=0):
    index = AbortIndex(MemoryDisk(), "a", size)
    for entry in entries:
        index.append(entry)
    return index


def test_an_entry_has_34_bytes():
    index = index_of(FIRST)
    index.write()
    assert index.file.read(0, 99).hex(" ", 8) == (
        "0000 0000000000000007 0000000000000064 0000000000000078 000000000000006e"
    )


def test_entries_read_back():
    assert list(index_of(FIRST, SECOND, THIRD).entries()) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("start", "end", "found", "complete"),
    [
        (0, 100, [], True),
        (0, 101, [FIRST], True),
        (0, 115, [FIRST, SECOND], True),
        (121, 131, [SECOND], True),
        (131, 150, [], True),
        (131, 170, [THIRD], False),
        (170, 180, [], False),
    ],
)
def test_a_range_has_the_transactions_that_touch_it(start, end, found, complete):
    assert index_of(FIRST, SECOND, THIRD).between(start, end) == (found, complete)


@pytest.mark.parametrize(("offset", "left"), [(161, 3), (160, 2), (121, 1), (120, 0)])
def test_truncation_forgets_aborts_from_there_on(offset, left):
    index = index_of(FIRST, SECOND, THIRD)
    index.truncate_to(offset)
    assert len(index) == left


def test_a_sound_index_has_no_complaint():
    assert index_of(FIRST, SECOND, THIRD).complaint(105) is None


def test_what_cannot_be_right_is_named():
    assert "part of an entry" in index_of(size=35).complaint(0)
    assert "after offset 160" in index_of(THIRD, FIRST).complaint(0)
    assert "after offset 199" in index_of(THIRD).complaint(200)


def test_however_many_ended_before_only_those_are_looked_at_that_end_in_the_range(monkeypatch):
    index = index_of(*(AbortedTransaction(7, 10 * n, 10 * n + 5, 10 * n + 6) for n in range(10_000)))
    index.write()
    looked_at, entry = [], AbortIndex.entry
    monkeypatch.setattr(
        AbortIndex, "entry", lambda self, number: looked_at.append(number) or entry(self, number)
    )

    found, complete = index.between(50_001, 50_020)

    assert ([each.first_offset for each in found], complete) == ([50_000, 50_010], True)
    assert looked_at == [5_000, 5_001, 5_002]
