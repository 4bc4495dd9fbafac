"""Who comes to a voter is believed or not, and nothing is lost by those who are not."""

from __future__ import annotations

import pytest

from andiron.quorum.election_state import EPOCH_MAX
from andiron.quorum.events import (
    DeadlineReached,
    LeaderNamed,
    LeaderUnreachable,
    LogEnd,
    NodeStarted,
    VoteAnswered,
)
from andiron.quorum.trust import EPOCHS_AHEAD_MAX, refusal
from unit.quorum.memory import LATER, NOBODY, granted, quorum

STRANGER = 17


def refused(machine, node, epoch, *, changing=True):
    code = refusal(machine, node, epoch, voters_may_change=changing)
    return code and code.name


@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (3, "FENCED_LEADER_EPOCH"),
        (4, None),
        (4 + EPOCHS_AHEAD_MAX, None),
        (5 + EPOCHS_AHEAD_MAX, "INVALID_REQUEST"),
        (EPOCH_MAX, "INVALID_REQUEST"),
    ],
)
def test_a_voter_is_believed_in_epochs_that_there_can_be(follower, epoch, code):
    assert refused(follower, 3, epoch) == code


def test_no_epoch_is_beyond_the_last_one(files):
    machine = quorum(files)
    machine.step(VoteAnswered(2, 0, True, False, EPOCH_MAX - 1, NOBODY), 0)

    assert refused(machine, 2, EPOCH_MAX) is None
    assert refused(machine, 2, EPOCH_MAX + 1) == "INVALID_REQUEST"


@pytest.mark.parametrize("node", [NOBODY, 1])
def test_nobody_is_no_candidate_and_a_voter_does_not_come_to_itself(follower, node):
    assert refused(follower, node, 5) == "INVALID_REQUEST"


def test_where_the_voters_are_fixed_nobody_else_is_believed(voter):
    assert refused(voter, STRANGER, 9, changing=False) == "INCONSISTENT_VOTER_SET"


def test_a_voter_that_hears_nobody_may_not_know_yet_who_votes_since(voter):
    assert refused(voter, STRANGER, 9) is None


def test_who_leads_or_hears_who_does_knows_all_that_vote(leader, files):
    assert refused(leader, STRANGER, 9) == "INCONSISTENT_VOTER_SET"


def test_a_follower_believes_a_stranger_only_when_its_leader_is_away(follower):
    assert refused(follower, STRANGER, 9) == "INCONSISTENT_VOTER_SET"

    follower.step(LeaderUnreachable(4), 0)

    assert refused(follower, STRANGER, 9) is None


def test_who_votes_alone_believes_nobody(files):
    alone = quorum(files, (1,))
    assert refused(alone, STRANGER, 9) == "INCONSISTENT_VOTER_SET", "before it has even begun to lead"

    alone.step(NodeStarted(), 0)

    assert refused(alone, STRANGER, 9) == "INCONSISTENT_VOTER_SET"


def test_an_answer_is_believed_in_any_epoch_that_there_can_be(candidate, files):
    """One with an empty disk learns so where the others are."""
    candidate.step(VoteAnswered(2, 1, False, False, EPOCH_MAX + 1, NOBODY), LATER)
    assert candidate.epoch == 1

    candidate.step(LeaderNamed(5_000_000, 3), LATER)
    assert (candidate.epoch, candidate.leader) == (5_000_000, 3)


def test_after_the_last_epoch_nobody_stands(voter, files):
    voter.step(VoteAnswered(2, 0, True, False, EPOCH_MAX, NOBODY), 0)

    voter.step(DeadlineReached(), LATER)
    voter.step(granted(2, EPOCH_MAX, pre_vote=True), LATER)
    voter.vote(3, EPOCH_MAX, LogEnd(9, 9), pre_vote=False, now=LATER)
    voter.step(DeadlineReached(), 3 * LATER)

    assert voter.epoch == EPOCH_MAX
    assert max(epoch for epoch, _, _ in files.written) == EPOCH_MAX
