"""How much of a long request is done in one step."""

from __future__ import annotations

import pytest

from andiron.broker.node.slice_sizes import SIZES, slices_of
from andiron.broker.node.slices import each


def slices(count: int) -> list[int]:
    """How many of so many entries are done when each step of them ends."""
    done: list[int] = []
    return [len(done) for _ in each(range(count), done.append)]


def test_slices_can_be_made_small_for_a_while():
    assert slices(1_200) == [500, 1_000]
    with slices_of(2):
        assert slices(5) == [2, 4]
        assert SIZES.shards == 2
    assert slices(1_200) == [500, 1_000]


def test_they_are_never_made_larger():
    with slices_of(1_000):
        assert slices(1_200) == [500, 1_000]


def test_what_fails_meanwhile_leaves_them_as_they_were():
    with pytest.raises(ValueError, match="x"), slices_of(1):
        raise ValueError("x")
    assert SIZES.entries == 500
