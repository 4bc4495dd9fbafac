"""Each planted bug is caught, and the code without it is not blamed for it.

The seed named is one with a short history that caught the bug when this was written. Where a change has made another
history of it since, others are looked through, and a warning says which does: `make bugs` finds the quickest anew.
"""

import logging
import warnings
from pathlib import Path

import pytest

from simulation.catching import MOODS, PLANTED, law_broken, length

DOCS = Path(__file__).parents[2] / "docs" / "simulation.md"
SEEDS_MAX = {1: 150, 3: 50}
CAUGHT_BY = {
    1: {
        "a_lookup_is_off_by_one": 36,
        "recovery_does_not_look_at_checksums": 36,
        "recovery_keeps_a_torn_batch": 36,
        "the_dedupe_window_is_too_short": 18,
        "a_batch_is_taken_at_its_headers_word": 3,
        "producers_are_forgotten_by_a_restart": 5,
        "compaction_drops_tombstones_at_once": 53,
        "the_watermark_runs_ahead_of_the_disk": 6,
        "producers_are_answered_before_the_fsync": 6,
        "a_flush_vouches_for_what_came_after_it_began": 36,
        "metadata_takes_effect_before_it_is_committed": 0,
        "the_log_start_is_not_written_down": 44,
        "a_client_is_told_of_a_deletion_before_it_is_written_down": 0,
        "a_copy_takes_the_place_of_its_log_before_it_has_all_of_it": 58,
        "a_log_that_was_cut_is_clean_beyond_its_end": 84,
        "markers_go_out_before_the_decision_is_committed": 59,
        "a_prepared_transaction_owes_nothing_after_a_restart": 7,
        "a_successor_gets_the_epoch_of_its_predecessor": 15,
        "a_late_batch_is_written_without_asking_the_coordinator": 59,
        "the_end_of_a_transaction_is_taken_from_an_old_epoch": 25,
        "a_marker_is_written_again_when_it_is_repeated": 26,
        "the_last_stable_offset_does_not_wait_for_open_transactions": 5,
        "a_transaction_that_takes_too_long_is_left_alone": 25,
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
        "deadlines_that_were_moved_stay_until_their_time": 41,
        "what_was_ended_is_remembered_until_somebody_reads": 59,
    },
    3: {
        "a_voter_forgets_its_vote": 44,
        "a_candidate_with_less_is_voted_for": 21,
        "whoever_comes_is_believed_in_any_epoch": 21,
        "one_voter_is_a_majority": 21,
        "the_quorum_counts_what_is_not_on_the_disk": 21,
        "metadata_takes_effect_before_a_majority_has_it": 21,
        "one_vote_of_three_is_a_majority": 11,
        "a_controller_begins_with_what_is_committed_and_not_with_all_that_is_written": 21,
        "a_snapshot_leaves_settings_out": 18,
        "what_a_snapshot_told_is_replayed_from_the_log": 22,
        "the_watermark_does_not_wait_for_followers": 21,
        "the_watermark_does_not_wait_for_who_is_about_to_be_in_sync": 10,
        "a_follower_never_gives_way": 11,
        "a_follower_gives_way_to_its_own_watermark": 21,
        "a_follower_that_is_far_behind_is_called_in_sync": 34,
        "acks_all_is_answered_before_the_followers_have_it": 18,
        "a_leader_drops_replicas_from_the_isr_without_the_controller": 10,
        "a_leader_that_was_deposed_goes_on": 19,
        "what_a_follower_knows_of_producers_is_not_kept": 34,
        "a_follower_does_not_see_markers": 18,
        "a_follower_does_not_hear_where_its_leaders_log_starts": 38,
        "consumers_are_shown_what_is_not_committed": 18,
        "the_first_of_two_fetches_takes_the_news_of_the_second": 6,
        "a_flush_that_could_not_begin_is_forgotten": 17,
        "a_broker_that_crashed_is_taken_for_one_that_stopped": 21,
        "epochs_of_leaders_are_not_told_apart": 23,
        "a_leader_does_not_ask_for_two_in_sync": 25,
        "an_earlier_life_of_a_broker_may_join_the_isr": 6,
        "any_replica_may_lead": 38,
        "a_new_leader_leads_in_the_old_epoch": 23,
        "a_reassignment_is_done_before_the_new_replicas_are_in_sync": 38,
        "whoever_was_in_sync_once_stays_eligible": 34,
        "a_follower_takes_all_that_it_has_for_committed": 18,
        "a_new_leader_takes_all_that_it_has_for_committed": 34,
        "a_controller_does_not_note_which_producer_ids_it_gave": 21,
        "a_follower_takes_in_all_that_has_come_in_one_step": 11,
        "a_pause_counts_as_silence": 19,
    },
}
# These are caught only at the end of a history that takes a quarter of a minute, or of many.
SLOWLY = {
    "a_follower_does_not_hear_where_its_leaders_log_starts",
    "the_first_of_two_fetches_takes_the_news_of_the_second",
    "a_flush_that_could_not_begin_is_forgotten",
}
EACH = [(nodes, name, seed) for nodes, named in CAUGHT_BY.items() for name, seed in named.items()]
QUICK = {nodes: list(dict.fromkeys(seeds.values())) for nodes, seeds in CAUGHT_BY.items()}


@pytest.fixture(autouse=True)
def silence():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(
    ("nodes", "name", "seed"),
    [pytest.param(*each, marks=[pytest.mark.long] if each[1] in SLOWLY else []) for each in EACH],
)
def test_a_planted_bug_is_caught(nodes, name, seed):
    if law_broken(name, nodes, seed) is not None:
        return
    for other in dict.fromkeys((*QUICK[nodes], *range(SEEDS_MAX[nodes]))):
        if law_broken(name, nodes, other) is not None and length(nodes, other, MOODS.get(name)) is not None:
            warnings.warn(f"{name}: it is {other} that catches it now, and not {seed}", stacklevel=1)
            return
    raise AssertionError(f"no seed up to {SEEDS_MAX[nodes]} catches it")


@pytest.mark.parametrize(
    ("nodes", "seed", "mood"),
    list(dict.fromkeys((nodes, seed, MOODS.get(name)) for nodes, name, seed in EACH if name not in SLOWLY)),
)
def test_without_a_bug_nothing_is_caught(nodes, seed, mood):
    assert length(nodes, seed, mood) is not None


def test_every_planted_bug_has_a_seed():
    assert {nodes: set(bugs) for nodes, bugs in PLANTED.items()} == {
        nodes: set(named) for nodes, named in CAUGHT_BY.items()
    }


@pytest.mark.parametrize(("nodes", "name", "seed"), EACH)
def test_the_docs_have_it_too(nodes, name, seed):
    rows = [line.strip("| ").split(" | ") for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    told = {row[0].replace("'", ""): row[-1] for row in rows if len(row) == 3}
    assert told[name.replace("_", " ")].split(",")[0] == str(seed)
