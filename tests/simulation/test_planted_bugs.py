"""Each planted bug is caught, and the code without it is not blamed for it.

The seed given is one that caught the bug when this was written. Where a change has made another history of it since,
others are tried: `make bugs` tells which to name now.
"""

import logging
from functools import cache

import pytest

from andiron.sim.play import play
from simulation import cluster_bugs
from simulation.coordinator_bugs import BUGS, planted

SEEDS_MAX, SEEDS_OF_CLUSTERS_MAX = 150, 50
CAUGHT_BY = {
    "a_lookup_is_off_by_one": 0,
    "recovery_does_not_look_at_checksums": 11,
    "recovery_keeps_a_torn_batch": 0,
    "the_dedupe_window_is_too_short": 6,
    "a_batch_is_taken_at_its_headers_word": 3,
    "producers_are_forgotten_by_a_restart": 5,
    "compaction_drops_tombstones_at_once": 1,
    "the_watermark_runs_ahead_of_the_disk": 2,
    "producers_are_answered_before_the_fsync": 7,
    "a_flush_vouches_for_what_came_after_it_began": 0,
    "metadata_takes_effect_before_it_is_committed": 8,
    "the_log_start_is_not_written_down": 3,
    "a_copy_takes_the_place_of_its_log_before_it_has_all_of_it": 6,
    "markers_go_out_before_the_decision_is_committed": 5,
    "a_prepared_transaction_owes_nothing_after_a_restart": 6,
    "a_successor_gets_the_epoch_of_its_predecessor": 6,
    "a_late_batch_is_written_without_asking_the_coordinator": 5,
    "the_end_of_a_transaction_is_taken_from_an_old_epoch": 5,
    "a_marker_is_written_again_when_it_is_repeated": 6,
    "the_last_stable_offset_does_not_wait_for_open_transactions": 5,
    "a_transaction_that_takes_too_long_is_left_alone": 13,
    "a_transaction_is_as_old_as_the_clock_on_the_wall_says": 34,
    "coordinators_answer_before_it_is_committed": 1,
    "an_epoch_is_not_bumped_when_a_transaction_is_aborted_over_its_producer": 5,
    "offsets_of_an_aborted_transaction_count": 5,
    "the_end_of_a_transaction_is_not_replayed_to_the_offsets": 5,
    "commits_are_acknowledged_and_not_written": 1,
    "a_commit_of_a_former_generation_is_taken": 17,
    "the_time_of_members_does_not_run_after_a_restart": 7,
    "a_partition_is_handed_over_before_it_is_given_up": 1,
    "a_static_member_that_was_replaced_is_not_fenced": 41,
    "what_a_member_gave_up_is_not_written_down": 1,
    "the_last_of_several_records_of_a_group_is_not_written": 1,
}


@pytest.fixture(autouse=True)
def silence():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def catching_seed(name):
    """The first seed whose history breaks a law with the bug, and breaks none without it."""
    for seed in (CAUGHT_BY[name], *range(SEEDS_MAX)):
        with planted(name):
            caught = play(seed, nodes=1).violation is not None
        if caught and play(seed, nodes=1).violation is None:
            return seed
    return None


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name):
    assert catching_seed(name) is not None, f"no seed up to {SEEDS_MAX} catches it"


# ── of clusters ──────────────────────────────────────────────────────────────────────

# The first seeds of clusters of three that caught them, by `python -m simulation.table`.
IN_CLUSTERS = {
    "a_new_leader_takes_all_that_it_has_for_committed": 8,
    "a_broker_that_crashed_is_taken_for_one_that_stopped": 0,
    "a_candidate_with_less_is_voted_for": 2,
    "one_voter_is_a_majority": 0,
    "the_quorum_counts_what_is_not_on_the_disk": 0,
    "metadata_takes_effect_before_a_majority_has_it": 2,
    "one_vote_of_three_is_a_majority": 0,
    "what_a_snapshot_told_is_replayed_from_the_log": 1,
    "the_watermark_does_not_wait_for_followers": 0,
    "a_follower_never_gives_way": 2,
    "a_follower_gives_way_to_its_own_watermark": 0,
    "a_follower_that_is_far_behind_is_called_in_sync": 11,
    "acks_all_is_answered_before_the_followers_have_it": 2,
    "a_leader_drops_replicas_from_the_isr_without_the_controller": 11,
    "a_follower_does_not_see_markers": 5,
    "consumers_are_shown_what_is_not_committed": 0,
    "epochs_of_leaders_are_not_told_apart": 1,
    "a_leader_does_not_ask_for_two_in_sync": 1,
    "a_reassignment_is_done_before_the_new_replicas_are_in_sync": 24,
    "a_follower_takes_all_that_it_has_for_committed": 0,
    "a_controller_does_not_note_which_producer_ids_it_gave": 7,
    "whoever_was_in_sync_once_stays_eligible": 1,
}

SLOWLY = {
    "a_voter_forgets_its_vote": 9,
    "the_first_of_two_fetches_takes_the_news_of_the_second": 24,
    "a_flush_that_could_not_begin_is_forgotten": 14,
    "a_controller_begins_with_what_is_committed_and_not_with_all_that_is_written": 0,
    "a_snapshot_leaves_settings_out": 1,
    "the_watermark_does_not_wait_for_who_is_about_to_be_in_sync": 11,
    "a_leader_that_was_deposed_goes_on": 1,
    "what_a_follower_knows_of_producers_is_not_kept": 5,
    "a_follower_does_not_hear_where_its_leaders_log_starts": 3,
    "a_new_leader_leads_in_the_old_epoch": 0,
    "any_replica_may_lead": 13,
}


@cache
def is_sound(seed):
    return play(seed, nodes=3).violation is None


@pytest.mark.parametrize(
    ("name", "seed"),
    [*IN_CLUSTERS.items(), *(pytest.param(*each, marks=pytest.mark.long) for each in SLOWLY.items())],
)
def test_a_bug_planted_in_a_cluster_is_caught(name, seed):
    def is_caught(seed):
        with cluster_bugs.BUGS[name]():
            return play(seed, nodes=3).violation is not None

    seeds = (seed, *range(SEEDS_OF_CLUSTERS_MAX))
    assert any(is_caught(each) and is_sound(each) for each in seeds), f"not by {len(seeds)} seeds"
