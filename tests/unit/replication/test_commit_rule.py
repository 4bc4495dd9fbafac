"""What is committed, by the ends of the logs that count."""

from __future__ import annotations

import pytest

from andiron.replication.commit_rule import (
    in_own_epoch,
    isr_watermark,
    majority_of_followers,
    majority_watermark,
)


def test_in_sync_replicas_commit_what_all_of_them_hold():
    assert isr_watermark([9, 7, 8]) == 7
    assert isr_watermark([9]) == 9


@pytest.mark.parametrize(
    ("ends", "committed"),
    [([9], 9), ([9, 7], 7), ([9, 7, 8], 8), ([9, 9, 0], 9), ([9, 7, 8, 6], 7), ([9, 7, 8, 6, 5], 7)],
)
def test_voters_commit_what_more_than_half_of_them_hold(ends, committed):
    assert majority_watermark(ends) == committed
    assert 2 * sum(end >= committed for end in ends) > len(ends)


def test_a_leader_that_is_no_voter_any_more_does_not_count_itself():
    assert majority_of_followers([9, 7, 8]) == 7


def test_a_leader_commits_older_epochs_only_through_a_record_of_its_own():
    rule = in_own_epoch(majority_watermark, 8)

    assert rule([9, 8, 8]) == 0
    assert rule([9, 9, 0]) == 9
