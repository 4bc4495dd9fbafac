"""Where offsets are kept, where they shift, and how one is found from the other."""

from __future__ import annotations

import pytest

from andiron.copying.errors import CopyError
from andiron.copying.offset_map import OffsetMap, Stretch


def mapped() -> OffsetMap:
    """100..180 kept, one offset left out, 182..190, then [195 198 201] and what follows it."""
    offsets = OffsetMap([Stretch(100, 100)])
    assert offsets.place(100, 181, 100, 81) is None
    assert offsets.place(182, 191, 181, 9) == Stretch(182, 181)
    assert offsets.place(195, 202, 190, 3) == Stretch(195, 190, 202, 193)
    assert offsets.place(202, 210, 193, 8) == Stretch(202, 193)
    return offsets


@pytest.mark.parametrize(
    ("source", "target"),
    [(50, 100), (100, 100), (180, 180), (181, 181), (182, 181), (190, 189), (191, 190), (195, 190), (198, 190),
     (202, 193), (209, 200), (210, 201), (999, 201)],
)  # fmt: skip
def test_a_reader_goes_on_at_the_record_it_would_have_read_next(source: int, target: int) -> None:
    assert mapped().target_of(source, 201) == target


def test_nobody_goes_on_behind_the_end_of_the_target() -> None:
    assert mapped().target_of(209, 150) == 150


def test_what_lies_within_a_batch_with_gaps_has_to_be_counted() -> None:
    offsets = mapped()

    assert offsets.sparse_at(198) == Stretch(195, 190, 202, 193)
    assert offsets.sparse_at(195) is None
    assert offsets.sparse_at(205) is None
    assert offsets.sparse_at(3) is None


@pytest.mark.parametrize(
    ("end", "source"), [(100, 100), (150, 150), (181, 181), (190, 191), (193, 202), (195, 204)]
)
def test_the_end_of_the_target_says_where_to_go_on(end: int, source: int) -> None:
    offsets = mapped()
    offsets.cut(end)

    assert offsets.resume_at(end) == source


def test_what_was_noted_and_never_arrived_is_forgotten() -> None:
    offsets = mapped()

    assert offsets.cut(190)
    assert offsets.stretches == [Stretch(100, 100), Stretch(182, 181)]
    assert not offsets.cut(190)


def test_an_end_within_a_batch_is_somebody_elses() -> None:
    offsets = mapped()
    offsets.cut(191)

    with pytest.raises(CopyError, match="somebody else"):
        offsets.resume_at(191)


def test_the_first_stretch_stays_while_the_offsets_before_it_are_being_filled() -> None:
    offsets = OffsetMap([Stretch(5000, 5000)])

    assert not offsets.cut(0)
    assert offsets.resume_at(1200) == 5000


def test_a_gap_at_the_beginning_is_a_stretch_in_place_of_none() -> None:
    offsets = OffsetMap([Stretch(0, 0)])
    offsets.place(1000, 1010, 0, 10)

    assert offsets.target_of(700, 10) == 0
    assert offsets.target_of(1003, 10) == 3
    assert not offsets.keeps_offsets
    assert OffsetMap([Stretch(7, 7)]).keeps_offsets


@pytest.mark.parametrize(
    ("source", "target", "pair"),
    [(0, 0, (100, 100)), (150, 0, (150, 150)), (0, 185, (186, 185)), (196, 0, (202, 193)), (205, 0, (205, 196))],
)  # fmt: skip
def test_both_sides_begin_to_be_compared_at_the_same_record(
    source: int, target: int, pair: tuple[int, int]
) -> None:
    assert mapped().aligned(source, target) == pair


def test_there_may_be_no_record_in_common() -> None:
    assert OffsetMap([Stretch(0, 0), Stretch(1, 0, 9, 3)]).aligned(2, 0) is None
