"""A majority is more than half of those who vote."""

from __future__ import annotations

import pytest

from andiron.quorum.voters import Voters


@pytest.mark.parametrize(
    ("voters", "nodes", "majority"),
    [
        ([], [1, 2], False),
        ([1], [], False),
        ([1], [1], True),
        ([1, 2], [1], False),
        ([1, 2, 3], [3, 1], True),
        ([1, 2, 3], [1, 1, 1], False),
        ([1, 2, 3], [1, 8, 9], False),
        ([1, 2, 3, 4], [1, 2], False),
    ],
)
def test_a_majority_is_more_than_half_of_the_voters(voters, nodes, majority):
    assert Voters(voters).is_majority(nodes) is majority


def test_voters_are_the_same_in_whatever_order_they_come():
    assert Voters([3, 1, 2]) == Voters([1, 2, 3])
    assert list(Voters([3, 1, 2, 3])) == [1, 2, 3]
    assert 2 in Voters([1, 2]) and 3 not in Voters([1, 2])
    assert Voters([1]) != Voters([2])
    assert hash(Voters([2, 1])) == hash(Voters([1, 2]))
