"""A key has one partition; keyless records fill one batch at a time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from andiron.client.core.partitioner import StickyPartitioner, partition_of
from andiron.model.chance import Chance


@given(st.binary(max_size=20), st.integers(1, 1000))
def test_a_key_has_one_of_the_partitions(key: bytes, partitions: int) -> None:
    assert 0 <= partition_of(key, partitions) < partitions


def test_keyless_records_stay_until_a_batch_is_full() -> None:
    sticky = StickyPartitioner(Chance(1), bytes_per_turn=100)
    chosen = [sticky.choose("t", [0, 1, 2], 10) for _ in range(40)]

    turns = [chosen[start : start + 10] for start in range(0, 40, 10)]
    assert all(len(set(turn)) == 1 for turn in turns)
    assert all(one[0] != two[0] for one, two in pairwise(turns))


def test_a_partition_that_has_lost_its_leader_is_left() -> None:
    sticky = StickyPartitioner(Chance(1), bytes_per_turn=1000)
    first = sticky.choose("t", [0, 1], 1)

    assert sticky.choose("t", [1 - first], 1) == 1 - first


def test_the_only_partition_is_chosen_again() -> None:
    sticky = StickyPartitioner(Chance(1), bytes_per_turn=1)

    assert [sticky.choose("t", [4], 10) for _ in range(3)] == [4, 4, 4]


def test_topics_do_not_share_their_turns() -> None:
    sticky = StickyPartitioner(Chance(1), bytes_per_turn=10)
    mine = sticky.choose("mine", [0, 1, 2], 1)
    for _ in range(20):
        sticky.choose("yours", [0, 1, 2], 10)

    assert sticky.choose("mine", [0, 1, 2], 1) == mine
