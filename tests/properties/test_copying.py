"""A copy that is killed at any moment, of a log with any gaps: each record once, in order, and every offset translated.

The target is a list, and what is noted goes through notes alone: each process begins with what the last has left.
"""

from __future__ import annotations

import json
from bisect import bisect_left

from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.copying.chunks import Chunk
from andiron.copying.partition_copy import PartitionCopy, begun, resumed
from andiron.copying.state import Note, State, Target
from andiron.model.ids import TopicPartition
from properties.effort import tries

P, T = TopicPartition("t", 0), Target("t", "id")


class World:
    """A source that does not change, a target, and the notes on it."""

    def __init__(self, gaps: list[int], start: int) -> None:
        self.start = start
        self.source: list[int] = []  # offsets
        offset = start
        for gap in gaps:
            offset += gap
            self.source.append(offset)
            offset += 1
        self.end = offset
        self.target: list[int] = []  # offsets of the source, by offset of the target
        self.notes: list[Note] = []

    def open(self) -> tuple[State, PartitionCopy]:
        """As a new process finds it."""
        state = State("a")
        for key, value in self.notes:
            state.replay(*json.loads(json.dumps((key, value))))
        known = state.maps.get((T, 0))
        if known is None:
            return state, begun(P, T, self.start, (0, 0), deletes=False, keep=True)
        if known.cut(len(self.target)):
            self.notes.append(state.note_map(T, 0, [], cut=len(self.target)))
        return state, resumed(P, T, known, len(self.target))

    def run(self, sizes: list[int], rounds: list[int], survives: int) -> PartitionCopy:
        """Copy in chunks of these sizes, so many to a round, until the end or until so many have arrived."""
        state, copy = self.open()
        at = bisect_left(self.source, copy.source)
        turn = 0
        while at < len(self.source) and survives >= 0:
            placed = []
            for _ in range(rounds[turn % len(rounds)]):
                some = self.source[at : at + sizes[(at + turn) % len(sizes)]]
                if some:
                    copy.place(Chunk(some[0], some[-1] + 1, len(some), bytearray()))
                    placed.append(some)
                    at += len(some)
            turn += 1
            if copy.fresh:
                self.notes.append(state.note_map(T, 0, copy.take_fresh()))
            for some in placed:
                survives -= 1
                if survives < 0:
                    return copy
                self.target += some
        return copy


def translated(world: World, copy: PartitionCopy, offset: int) -> int:
    """As groups.translated, with the source at hand."""
    sparse = copy.map.sparse_at(offset)
    inside = sum(sparse.source <= each < offset for each in world.source) if sparse is not None else 0
    return copy.map.target_of(offset, copy.target) + inside


few = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@settings(max_examples=tries(300), deadline=None)
@given(
    gaps=st.lists(st.sampled_from([0, 0, 0, 1, 3]), max_size=40),
    start=st.sampled_from([0, 7]),
    lives=st.lists(st.tuples(few, few, st.integers(0, 6)), max_size=5),
    last=st.tuples(few, few),
)
def test_each_record_arrives_once_and_every_offset_finds_the_record_that_comes_next(
    gaps: list[int],
    start: int,
    lives: list[tuple[list[int], list[int], int]],
    last: tuple[list[int], list[int]],
) -> None:
    world = World(gaps, start)
    for life in lives:
        world.run(*life)
    copy = world.run(*last, survives=1 << 30)
    if copy.fresh:
        world.notes.append(State("a").note_map(T, 0, copy.take_fresh()))

    assert world.target == world.source
    _, again = world.open()
    for offset in range(max(0, start - 2), world.end + 3):
        assert translated(world, again, offset) == bisect_left(world.source, offset)
