"""How the copy of a partition begins, goes on, and what it has to note."""

from __future__ import annotations

import pytest

from andiron.copying.chunks import Chunk
from andiron.copying.errors import CopyError
from andiron.copying.offset_map import OffsetMap, Stretch
from andiron.copying.partition_copy import PartitionCopy, begun, resumed
from andiron.copying.state import Target
from andiron.model.ids import TopicPartition

P, T = TopicPartition("t", 0), Target("t", "id")


def begin(
    source_start: int, target: tuple[int, int], *, deletes: bool = True, keep: bool = True
) -> PartitionCopy:
    return begun(P, T, source_start, target, deletes=deletes, keep=keep)


def test_a_source_that_begins_at_0_keeps_its_offsets() -> None:
    copy = begin(0, (0, 0))

    assert (copy.source, copy.target, copy.lead_in) == (0, 0, 0)
    assert copy.take_fresh() == [Stretch(0, 0)]
    assert copy.take_fresh() == []


def test_one_that_begins_later_is_led_up_to() -> None:
    assert begin(500, (0, 0)).lead_in == 500
    assert begin(500, (200, 200)).lead_in == 300


@pytest.mark.parametrize(("deletes", "keep"), [(False, True), (True, False)])
def test_it_shifts_where_records_cannot_be_deleted_or_nobody_wants_that(deletes: bool, keep: bool) -> None:
    copy = begin(500, (0, 0), deletes=deletes, keep=keep)

    assert copy.map.stretches == [Stretch(500, 0)]
    assert copy.lead_in == 0


def test_a_target_that_is_already_further_shifts() -> None:
    assert begin(5, (90, 90)).map.stretches == [Stretch(5, 90)]


def test_records_on_the_target_are_somebody_elses() -> None:
    with pytest.raises(CopyError, match="no copy has written"):
        begin(0, (0, 3))


def test_it_goes_on_where_the_target_ends() -> None:
    copy = resumed(P, T, OffsetMap([Stretch(500, 500)]), 620)

    assert (copy.source, copy.target, copy.lead_in) == (620, 620, 0)
    assert resumed(P, T, OffsetMap([Stretch(500, 500)]), 120).lead_in == 380


def test_what_shifts_is_to_be_noted_and_what_goes_on_is_not() -> None:
    copy = begin(0, (0, 0))
    copy.take_fresh()

    copy.place(Chunk(0, 5, 5, bytearray(10)))
    assert copy.fresh == []
    copy.place(Chunk(6, 8, 2, bytearray(10)))
    assert copy.fresh == [Stretch(6, 5)]
    assert (copy.target, copy.records, copy.bytes) == (7, 7, 20)
