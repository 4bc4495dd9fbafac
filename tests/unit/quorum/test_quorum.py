"""A voter, step by step: when it asks, whom it grants, what it does when leaders come and go.

Whole quorums in bad weather: tests/properties/test_quorum.py.
"""

from __future__ import annotations

import pytest

from andiron.model.errors import Refused
from andiron.model.ids import NEVER
from andiron.quorum.events import (
    AskVote,
    BecameFollower,
    BecameLeader,
    BeginEpoch,
    DeadlineReached,
    EndEpoch,
    LeaderHeard,
    LeaderNamed,
    LeaderResigned,
    LeaderUnreachable,
    LogEnd,
    LostLeader,
    NodeStarted,
    NodeStopping,
    VoteAnswered,
    VoterFetched,
)
from andiron.quorum.records import LeaderChangeMessage, LeaderChangeVoter
from andiron.quorum.roles import Role
from andiron.quorum.settings import QuorumSettings
from unit.quorum.memory import LATER, NOBODY, granted, quorum

# ── a sole voter ─────────────────────────────────────────────────────────────────────


def test_a_sole_voter_leads_at_once(files):
    machine = quorum(files, (1,))
    assert (machine.leader, machine.leads) == (None, False)

    effects = machine.step(NodeStarted(), 5)

    record = LeaderChangeMessage(0, 1, [LeaderChangeVoter(1)], [LeaderChangeVoter(1)])
    assert effects == [BecameLeader(1, record)]
    assert (machine.leader, machine.epoch, machine.leads) == (1, 1, True)
    assert machine.next_deadline() == NEVER
    assert files.written == [(1, 1, -1), (1, -1, 1)], "the vote is on the disk before the leadership"


def test_each_start_is_a_new_epoch(files):
    quorum(files, (1,)).step(NodeStarted(), 5)

    again = quorum(files, (1,))
    again.step(NodeStarted(), 6)

    assert again.epoch == 2


def test_the_epoch_is_above_that_of_the_log_even_where_the_file_is_lost(files):
    assert quorum(files, (1,), log=LogEnd(41, 9)).step(NodeStarted(), 5)[0].epoch == 42


def test_other_voters_than_last_time_are_refused(files):
    quorum(files, (1,)).step(NodeStarted(), 5)

    with pytest.raises(Refused, match="INCONSISTENT_VOTER_SET"):
        quorum(files)


# ── elections ────────────────────────────────────────────────────────────────────────


def test_who_hears_nobody_asks_around_before_it_stands(voter, files):
    assert 0 < voter.next_deadline() <= 250, "at the start nobody is waited for"
    assert voter.step(DeadlineReached(), voter.next_deadline() - 1) == []

    asked = voter.step(DeadlineReached(), LATER)

    assert asked == [AskVote(each, 0, True, LogEnd(0, 0)) for each in (2, 3)]
    assert (voter.role, voter.epoch, files.written) == (Role.PROSPECTIVE, 0, []), "nothing is promised yet"


def test_with_a_majority_behind_it_it_stands(voter, files):
    voter.step(DeadlineReached(), LATER)

    asked = voter.step(granted(3, 0, pre_vote=True), LATER)

    assert asked == [AskVote(each, 1, False, LogEnd(0, 0)) for each in (2, 3)]
    assert files.written == [(1, 1, -1)]


def test_with_a_majority_of_votes_it_leads_and_says_so(candidate, files):
    led, *told = candidate.step(granted(3, 1, pre_vote=False), LATER)

    voters = [LeaderChangeVoter(each) for each in (1, 2, 3)]
    assert led == BecameLeader(1, LeaderChangeMessage(0, 1, voters, [voters[0], voters[2]]))
    assert told == [BeginEpoch(2, 1), BeginEpoch(3, 1)]
    assert files.written[-1] == (1, -1, 1)


def test_answers_of_an_election_that_is_over_do_not_count(candidate):
    assert candidate.step(granted(3, 0, pre_vote=True), LATER) == []
    assert candidate.step(granted(3, 0, pre_vote=False), LATER) == []
    assert candidate.role is Role.CANDIDATE


def test_who_is_rejected_waits_a_little_and_asks_around_again(candidate):
    for voter in (2, 3):
        assert candidate.step(VoteAnswered(voter, 1, False, False, 1, NOBODY), LATER) == []

    assert LATER < candidate.next_deadline() <= LATER + 1000
    assert candidate.step(DeadlineReached(), 2 * LATER)[0] == AskVote(2, 1, True, LogEnd(0, 0))


def test_a_candidate_that_hears_of_a_later_epoch_gives_up(candidate):
    assert candidate.step(VoteAnswered(2, 1, False, False, 7, NOBODY), LATER) == [LostLeader(7)]
    assert (candidate.role, candidate.epoch) == (Role.UNATTACHED, 7)


# ── votes ────────────────────────────────────────────────────────────────────────────


def test_a_vote_is_given_once_in_an_epoch_across_restarts(voter, files):
    assert voter.vote(2, 1, LogEnd(0, 0), pre_vote=False, now=0).granted
    again = quorum(files)
    again.step(NodeStarted(), 1)

    assert again.vote(2, 1, LogEnd(0, 0), pre_vote=False, now=1).granted, "the same one may ask again"
    assert not again.vote(3, 1, LogEnd(9, 9), pre_vote=False, now=1).granted
    assert again.vote(3, 2, LogEnd(0, 0), pre_vote=False, now=1).granted


@pytest.mark.parametrize("pre_vote", [True, False])
def test_only_a_log_that_has_as_much_is_voted_for(files, pre_vote):
    voter = quorum(files, log=LogEnd(3, 10))
    voter.step(NodeStarted(), 0)

    def asks(log: LogEnd) -> bool:
        return voter.vote(2, voter.epoch + 1, log, pre_vote=pre_vote, now=0).granted

    assert [asks(LogEnd(2, 99)), asks(LogEnd(3, 9)), asks(LogEnd(3, 10)), asks(LogEnd(4, 1))] == [0, 0, 1, 1]


def test_who_hears_a_leader_would_vote_for_nobody(follower):
    assert not follower.vote(3, 4, LogEnd(9, 9), pre_vote=True, now=1).granted
    assert not follower.vote(3, 4, LogEnd(9, 9), pre_vote=False, now=1).granted
    assert follower.leader == 2


def test_who_does_not_hear_it_any_more_would(follower):
    follower.step(DeadlineReached(), LATER)

    assert follower.vote(3, 4, LogEnd(9, 9), pre_vote=True, now=LATER).granted
    assert not follower.vote(3, 4, LogEnd(9, 9), pre_vote=False, now=LATER).granted, (
        "this epoch has its leader"
    )


def test_a_request_of_an_earlier_epoch_is_told_the_later_one(follower):
    assert follower.vote(3, 2, LogEnd(9, 9), pre_vote=False, now=1)[:3] == (False, 4, 2)


# ── leaders come and go ──────────────────────────────────────────────────────────────


def test_whoever_leads_in_a_later_epoch_is_followed(leader, files):
    assert leader.step(LeaderNamed(2, 3), LATER) == [BecameFollower(2, 3)]
    assert (leader.leader, files.written[-1]) == (3, (2, -1, 3))
    assert leader.step(LeaderNamed(1, 1), LATER) == [], "what is past is past"


def test_two_leaders_of_one_epoch_cannot_be(follower):
    with pytest.raises(Refused, match="two leaders of the metadata in epoch 4: 2 and 3"):
        follower.step(LeaderNamed(4, 3), 1)


def test_rumours_do_not_keep_a_leader_alive(follower):
    due = follower.next_deadline()
    follower.step(LeaderNamed(4, 2), due - 1)

    assert follower.step(DeadlineReached(), due)[0] == LostLeader(4)
    assert follower.step(LeaderNamed(4, 2), due) == []
    assert follower.leader is None


def test_a_leader_that_is_heard_again_is_followed_again(follower):
    follower.step(DeadlineReached(), LATER)

    assert follower.step(LeaderHeard(4), LATER) == [BecameFollower(4, 2)]


def test_a_leader_whom_a_majority_does_not_ask_for_anything_steps_down(leader):
    assert leader.step(DeadlineReached(), LATER + 1000) == [BeginEpoch(2, 1), BeginEpoch(3, 1)]
    leader.step(VoterFetched(3), LATER + 1500)
    assert leader.step(DeadlineReached(), LATER + 4000) == [BeginEpoch(2, 1), BeginEpoch(3, 1)]

    assert leader.step(DeadlineReached(), LATER + 5000) == [
        LostLeader(1),
        EndEpoch(2, 1, ()),
        EndEpoch(3, 1, ()),
    ]
    assert not leader.vote(2, 1, LogEnd(9, 9), pre_vote=False, now=LATER + 5000).granted, (
        "its vote was its own"
    )
    assert leader.step(DeadlineReached(), 3 * LATER) == [LostLeader(2)]


def test_a_leader_that_was_started_again_waits_for_the_next_epoch(leader, files):
    again = quorum(files)
    assert again.step(NodeStarted(), 0) == []

    assert (again.role, again.leader) == (Role.RESIGNED, None)
    assert not again.vote(2, 1, LogEnd(9, 9), pre_vote=False, now=0).granted
    assert again.vote(2, 2, LogEnd(9, 9), pre_vote=False, now=0).granted


def test_a_leader_that_stops_names_its_successors(leader):
    assert leader.step(NodeStopping([3, 2]), LATER) == [
        LostLeader(1), EndEpoch(2, 1, (3, 2)), EndEpoch(3, 1, (3, 2)),
    ]  # fmt: skip


def test_the_first_successor_asks_around_at_once_and_the_others_a_little_later(follower):
    assert follower.step(LeaderResigned(3, [1]), 1) == [], "not the leader that it follows"
    assert follower.step(LeaderResigned(4, [3, 1]), 1) == [LostLeader(4)]
    assert 1 < follower.next_deadline() <= 1000
    follower.step(LeaderHeard(4), 2)

    assert follower.step(LeaderResigned(4, [1, 3]), 2)[1:] == [
        AskVote(each, 4, True, LogEnd(0, 0)) for each in (2, 3)
    ]


def test_a_node_that_does_not_vote_follows_and_never_stands(files):
    observer = quorum(files, (2, 3), me=1)
    observer.step(NodeStarted(), 0)

    assert observer.step(LeaderNamed(1, 2), 0) == [BecameFollower(1, 2)]
    assert observer.step(DeadlineReached(), LATER) == [LostLeader(1)]
    assert observer.step(DeadlineReached(), 2 * LATER) == [LostLeader(1)]


# ── a leader that cannot be asked ────────────────────────────────────────────────────


def test_a_leader_that_cannot_be_asked_is_missed_soon(follower):
    usual = follower.next_deadline()
    follower.step(LeaderUnreachable(4), 10)

    assert 10 < follower.next_deadline() <= 10 + 250 < usual
    asked = follower.step(DeadlineReached(), follower.next_deadline())
    assert [effect.pre_vote for effect in asked if isinstance(effect, AskVote)] == [True, True]


def test_a_leader_that_is_heard_again_in_time_is_not_missed(follower):
    follower.step(LeaderUnreachable(4), 10)
    follower.step(LeaderHeard(4), 20)

    assert follower.next_deadline() == 20 + QuorumSettings().controller_quorum_fetch_timeout_ms


def test_who_cannot_ask_its_leader_would_vote_for_another(follower):
    assert not follower.vote(3, 4, LogEnd(9, 9), pre_vote=True, now=5).granted
    follower.step(LeaderUnreachable(4), 10)

    assert follower.vote(3, 4, LogEnd(9, 9), pre_vote=True, now=20).granted


def test_that_a_leader_of_before_cannot_be_asked_is_no_news(follower):
    usual = follower.next_deadline()
    follower.step(LeaderUnreachable(3), 10)

    assert follower.next_deadline() == usual


def test_to_be_away_again_and_again_puts_nothing_off(follower):
    follower.step(LeaderUnreachable(4), 10)
    due = follower.next_deadline()
    follower.step(LeaderUnreachable(4), due - 1)

    assert follower.next_deadline() <= due


def test_a_leader_does_not_miss_itself(leader):
    due = leader.next_deadline()
    leader.step(LeaderUnreachable(leader.epoch), LATER)

    assert (leader.leads, leader.next_deadline()) == (True, due)


def test_an_observer_that_lost_its_leader_follows_it_again_when_it_is_named(files):
    observer = quorum(files, me=9)
    observer.step(LeaderNamed(4, 2), 0)
    observer.step(DeadlineReached(), LATER)
    assert observer.leader is None

    assert observer.step(LeaderNamed(4, 2), LATER) == [BecameFollower(4, 2)]


def test_what_could_not_be_written_is_tried_again_later(voter):
    voter.postpone(LATER)

    assert voter.next_deadline() == LATER


def test_an_observer_that_knows_no_voters_goes_by_whatever_was_written_before(files):
    quorum(files).step(LeaderNamed(4, 2), 0)

    assert quorum(files, voters=(), me=9).epoch == 4


def test_who_asks_a_leader_that_it_lost_for_its_vote_has_found_it_again(follower):
    follower.step(DeadlineReached(), now=LATER)
    assert follower.role is Role.PROSPECTIVE

    assert follower.step(VoteAnswered(3, 4, True, False, 4, 2), LATER) == []
    assert follower.step(VoteAnswered(2, 4, True, False, 4, 2), LATER) == [BecameFollower(4, 2)]
