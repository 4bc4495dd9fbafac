"""Voters come and go: who leads, who stands and whose votes count then."""

from __future__ import annotations

import json

from andiron.model.ids import NEVER
from andiron.quorum.events import (
    AskVote,
    BecameFollower,
    BecameLeader,
    DeadlineReached,
    LeaderNamed,
    LeaderResigned,
    LogEnd,
    LostLeader,
    NodeStarted,
    NodeStopping,
    VoterFetched,
)
from andiron.quorum.roles import Role
from andiron.quorum.voter_set import VoterIds
from unit.quorum.memory import LATER, granted, quorum


def test_a_leader_alone_that_gets_company_listens_to_it(files):
    leader = quorum(files, (1,))
    leader.step(NodeStarted(), 0)
    assert leader.next_deadline() == NEVER

    leader.change_voters(VoterIds([1, 2]), 100, in_log=True)

    assert leader.next_deadline() < NEVER
    assert leader.step(DeadlineReached(), 100 + LATER)[0] == LostLeader(1), (
        "of two that vote one is no majority"
    )


def test_a_leader_that_is_left_alone_listens_to_nobody(files):
    leader = quorum(files, (1,))
    leader.step(NodeStarted(), 0)
    leader.change_voters(VoterIds([1, 2]), 0, in_log=True)
    leader.change_voters(VoterIds([1]), 0, in_log=True)

    assert leader.next_deadline() == NEVER
    assert leader.leads


def test_a_leader_that_votes_no_more_needs_a_majority_of_the_others(files):
    leader = quorum(files, (1,))
    leader.step(NodeStarted(), 0)
    leader.change_voters(VoterIds([1, 2, 3]), 0, in_log=True)
    leader.change_voters(VoterIds([2, 3]), 0, in_log=True)
    leader.step(VoterFetched(2), 2_500)

    assert leader.step(DeadlineReached(), 3_500)[0] == LostLeader(1)


def test_one_that_votes_no_more_does_not_stand_and_uses_up_no_epoch(files):
    leader = quorum(files, (1,))
    leader.step(NodeStarted(), 0)
    leader.change_voters(VoterIds([2, 3]), 0, in_log=True)
    leader.step(NodeStopping([2, 3]), 10)
    assert leader.role is Role.RESIGNED

    assert leader.step(DeadlineReached(), LATER) == [LostLeader(1)]
    assert leader.epoch == 1
    assert leader.step(LeaderNamed(2, 3), LATER) == [BecameFollower(2, 3)]


def test_an_observer_that_gets_a_vote_stands_when_its_time_comes(files):
    observer = quorum(files, (2, 3), me=1)
    observer.step(NodeStarted(), 0)
    observer.step(LeaderNamed(1, 2), 0)
    assert observer.step(DeadlineReached(), LATER) == [LostLeader(1)]

    observer.change_voters(VoterIds([1, 2, 3]), LATER, in_log=True)

    asked = observer.step(DeadlineReached(), 2 * LATER)
    assert [effect.voter for effect in asked if isinstance(effect, AskVote)] == [2, 3]


def test_one_that_votes_no_more_stands_if_it_may_be_the_only_one_to_know(files):
    """It led, took its own vote away, and died before anybody else had heard of it."""
    log = LogEnd(1, 9)
    former = quorum(files, (2,), log=log, in_log=True, may_stand=True)
    former.step(NodeStarted(), 0)
    assert former.step(DeadlineReached(), LATER) == [AskVote(2, 1, True, log)]

    former.step(granted(2, 1, pre_vote=True), LATER)
    effects = former.step(granted(2, 2, pre_vote=False), LATER)

    assert former.leads
    assert isinstance(effects[0], BecameLeader)


def test_one_that_is_the_last_to_vote_needs_nobody_else(files):
    voter = quorum(files, (1, 2))
    voter.step(NodeStarted(), 0)
    voter.step(LeaderNamed(1, 2), 0)
    voter.change_voters(VoterIds([1]), 0, in_log=True)

    effects = voter.step(LeaderResigned(1, [1]), 10)

    assert [type(effect) for effect in effects] == [LostLeader, BecameLeader]


def test_voters_of_the_log_are_not_held_against_those_of_the_file(files):
    quorum(files, (1,)).step(NodeStarted(), 0)

    again = quorum(files, (1, 2), in_log=True)
    again.step(NodeStarted(), 0)
    assert again.step(DeadlineReached(), LATER)


def test_where_the_voters_are_in_the_log_the_file_does_not_name_them(files):
    member = quorum(files, (1,))
    member.change_voters(VoterIds([1]), 0, in_log=True)
    member.step(NodeStarted(), 0)

    told = json.loads(files["/m/quorum-state"])
    assert (told["data_version"], told["leaderEpoch"], "currentVoters" in told) == (1, 1, False)
