"""A pause is the longest time in which a partition, or a member, was given nothing."""

from __future__ import annotations

import pytest

from andiron.chaos.rebalance import ReceivedRecord, longest_gap, measure


def test_the_longest_gap_may_begin_before_the_span() -> None:
    assert longest_gap([0.0, 0.9, 1.6, 1.7], 1.0, 2.0) == pytest.approx(0.7)


def test_who_was_given_nothing_paused_all_the_time() -> None:
    assert longest_gap([], 1.0, 3.0) == 2.0


def test_pauses_are_told_by_partition_and_member() -> None:
    given = [ReceivedRecord(at / 10, 0, partition) for at in range(10) for partition in range(6)]
    given += [ReceivedRecord(at / 10, 0, partition) for at in range(10, 20) for partition in (0, 1)]
    given += [ReceivedRecord(at / 10, 1, partition) for at in range(14, 20) for partition in (2, 3)]
    given += [ReceivedRecord(at / 10, 2, partition) for at in range(12, 20) for partition in (4, 5)]

    scaling = measure("eager", given, scaled=1.0, settled=1.4, end=2.0)

    assert scaling.settled == pytest.approx(400.0)
    assert scaling.partitions == {0: 100.0, 1: 100.0, 2: 500.0, 3: 500.0, 4: 300.0, 5: 300.0}
    assert scaling.members == {0: 100.0, 1: 400.0, 2: 200.0}
    assert scaling.moved == [2, 3, 4, 5]
