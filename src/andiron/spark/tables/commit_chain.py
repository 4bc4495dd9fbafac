"""The commits of a table as one chain of ranges: where it has gaps, and the pieces in which it is read.

    orders-0   [40, 90) [90, 120)            [150, 200)
                  batch 1    batch 2     gap     batch 4

Read next: verification.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.tables.table_commit import TableCommit

PIECE_OFFSETS = 1 << 20  # compared at a time
EARLIER = -1  # the number of a batch that stands for all those whose commits are gone


class Break(NamedTuple):
    """A gap or an overlap in the chain of commits: offsets that no commit has, or that two have."""

    what: str  # missing or duplicated
    range: Range
    batch: int  # before which, or in which again


class Piece(NamedTuple):
    """Offsets of a partition, and the range of a batch that they are of."""

    range: Range
    batch: int
    of: Range


def with_earlier(commits: Sequence[TableCommit]) -> list[TableCommit]:
    """The commits, and before them one for what was committed before, if the table began before the first of them."""
    first = commits[0]
    earlier = tuple(Range(each.partition, first.since[each.partition], each.start) for each in first.ranges)
    if not any(each.size for each in earlier):
        return list(commits)
    return [replace(first, batch=EARLIER, ranges=earlier, rows=0, late=0), *commits]


def breaks(commits: Sequence[TableCommit]) -> Iterator[Break]:
    """Where the chain of commits has a gap, or an overlap."""
    reached: dict[TopicPartition, int] = {}
    for commit in commits:
        for each in commit.ranges:
            begun = reached.get(each.partition, each.start)
            if each.start > begun:
                yield Break("missing", Range(each.partition, begun, each.start), commit.batch)
            elif each.start < begun:
                twice = Range(each.partition, each.start, min(begun, each.end))
                yield Break("duplicated", twice, commit.batch)
            reached[each.partition] = max(begun, each.end)


def rounds_of(commits: Iterable[TableCommit], most: int = PIECE_OFFSETS) -> Iterator[list[Piece]]:
    """The ranges in pieces that are compared together: no more than `most` offsets at a time."""
    held: list[Piece] = []
    room = most
    for piece in _pieces(commits, most):
        if held and piece.range.size > room:
            yield held
            held, room = [], most
        held.append(piece)
        room -= piece.range.size
    if held:
        yield held


def joined_pieces(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces of one partition that follow each other, together: they are read at once."""
    held: list[Piece] = []
    for piece in sorted(pieces):
        follows = held and held[-1].range.partition == piece.range.partition
        if held and not (follows and held[-1].range.end == piece.range.start):
            yield held
            held = []
        held.append(piece)
    if held:
        yield held


def _pieces(commits: Iterable[TableCommit], most: int) -> Iterator[Piece]:
    for commit in commits:
        for partition, start, end in commit.ranges:
            for begin in range(start, end, most):
                piece = Range(partition, begin, min(begin + most, end))
                yield Piece(piece, commit.batch, Range(partition, start, end))
