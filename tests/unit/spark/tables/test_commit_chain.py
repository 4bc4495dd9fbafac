"""Ranges that join on, and in which pieces they are read."""

from __future__ import annotations

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.tables.commit_chain import EARLIER, Break, breaks, joined_pieces, rounds_of, with_earlier
from andiron.spark.tables.table_commit import TableCommit

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def commits(*ranges: tuple[int, int], since: int = 0) -> list[TableCommit]:
    return [TableCommit("q", number, (Range(T0, *each),), {T0: since}) for number, each in enumerate(ranges)]


def test_ranges_that_join_on_have_no_breaks() -> None:
    assert list(breaks(commits((0, 0), (0, 5), (5, 5), (5, 9)))) == []


def test_a_gap_is_missing_and_an_overlap_is_double() -> None:
    assert list(breaks(commits((0, 5), (7, 9), (8, 12)))) == [
        Break("missing", Range(T0, 5, 7), 1),
        Break("duplicated", Range(T0, 8, 9), 2),
    ]


def test_a_table_that_began_before_its_first_commit_has_an_earlier_one() -> None:
    known = commits((5, 9), since=2)

    assert [(each.batch, each.ranges) for each in with_earlier(known)] == [
        (EARLIER, (Range(T0, 2, 5),)),
        (0, (Range(T0, 5, 9),)),
    ]
    assert with_earlier(commits((2, 9), since=2)) == commits((2, 9), since=2)


def test_no_more_than_so_many_offsets_are_read_at_a_time() -> None:
    found = [
        [piece.range for piece in pieces] for pieces in rounds_of(commits((0, 3), (3, 5), (5, 12)), most=5)
    ]

    assert found == [[Range(T0, 0, 3), Range(T0, 3, 5)], [Range(T0, 5, 10)], [Range(T0, 10, 12)]]


def test_a_piece_knows_the_range_it_is_of() -> None:
    ((first, second),) = [list(each) for each in [[p for r in rounds_of(commits((0, 7)), most=5) for p in r]]]

    assert (first.of, second.of, second.batch) == (Range(T0, 0, 7), Range(T0, 0, 7), 0)


def test_pieces_that_follow_each_other_are_read_together() -> None:
    made = TableCommit("q", 3, (Range(T0, 9, 12), Range(T1, 0, 2)), {})
    (pieces,) = rounds_of([*commits((0, 3), (3, 5)), made])

    assert [[piece.range for piece in each] for each in joined_pieces(pieces)] == [
        [Range(T0, 0, 3), Range(T0, 3, 5)],
        [Range(T0, 9, 12)],
        [Range(T1, 0, 2)],
    ]
