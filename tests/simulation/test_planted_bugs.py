"""Each planted bug is caught, and the code without it is not blamed for it.

The first seed given is one that caught the bug when this was written; where a change of the simulator
has made another history of it, others are tried.
"""

import logging

import pytest

from andiron.sim.play import play
from simulation.coordinator_bugs import BUGS, planted

SEEDS_MAX = 150
CAUGHT_BY = {
    "a_lookup_is_off_by_one": 0,
    "recovery_does_not_look_at_checksums": 0,
    "recovery_keeps_a_torn_batch": 0,
    "the_dedupe_window_is_too_short": 6,
    "producers_are_forgotten_by_a_restart": 66,
    "compaction_drops_tombstones_at_once": 19,
    "the_watermark_runs_ahead_of_the_disk": 9,
    "producers_are_answered_before_the_fsync": 6,
    "a_flush_vouches_for_what_came_after_it_began": 0,
    "metadata_takes_effect_before_it_is_committed": 209,
    "the_log_start_is_not_written_down": 3,
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
            caught = play(seed).violation is not None
        if caught and play(seed).violation is None:
            return seed
    return None


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name):
    assert catching_seed(name) is not None, f"no seed up to {SEEDS_MAX} catches it"
