"""Who asks for a vote is given it or not, and told who leads."""

import pytest

from andiron.wire.messages.vote import VoteRequest, VoteRequestPartition, VoteRequestTopic
from worlds.controllers import CLUSTER_ID, METADATA, every_version_of
from worlds.node import Closed, error_of

MUCH = 1 << 40


def asking(
    candidate=3, epoch=99, cluster=CLUSTER_ID, voter=-1, pre_vote=False, end=(99, MUCH), topic=METADATA
):
    part = VoteRequestPartition(
        0, epoch, candidate, last_offset_epoch=end[0], last_offset=end[1], pre_vote=pre_vote
    )
    return VoteRequest(cluster, voter, [VoteRequestTopic(topic, [part])])


def ask(three, number, version=None, **how):
    return three.ask(number, asking(**how), version).topics[0].partitions[0]


@every_version_of(VoteRequest)
def test_a_candidate_with_a_later_epoch_and_all_records_gets_a_vote(three, version):
    number = three.follower
    other = next(n for n in (1, 2, 3) if n not in (number, three.leader))

    answer = ask(three, number, version, candidate=other)

    assert (error_of(answer), answer.vote_granted, answer.leader_epoch, answer.leader_id) == (
        "NONE",
        True,
        99,
        -1,
    )


def test_a_vote_is_given_once_an_epoch(three):
    number, one = three.follower, three.leader
    other = next(n for n in (1, 2, 3) if n not in (number, one))
    three.cluster.isolate(number)  # what the vote leads to is for others to find out

    assert ask(three, number, candidate=one).vote_granted
    assert ask(three, number, candidate=one).vote_granted
    assert not ask(three, number, candidate=other).vote_granted


def test_a_candidate_that_lacks_records_gets_none(three):
    assert not ask(three, three.follower, candidate=three.leader, end=(0, 0)).vote_granted


def test_a_candidate_of_an_older_epoch_is_told_of_the_present_one(three):
    answer = ask(three, three.follower, epoch=0)

    assert (answer.vote_granted, answer.leader_id, answer.leader_epoch) == (False, three.leader, three.epoch)


def test_who_only_asks_whether_it_would_costs_nobody_an_epoch(three):
    number, before = three.follower, three.epoch

    answer = ask(three, number, pre_vote=True, epoch=before, candidate=three.leader)

    assert not answer.vote_granted  # it hears its leader
    assert three.member(number).quorum.epoch == before


def test_another_cluster_gets_no_vote(three):
    assert error_of(three.ask(1, asking(cluster="another"))) == "INCONSISTENT_CLUSTER_ID"


def test_a_request_need_not_name_the_cluster(three):
    assert error_of(three.ask(three.follower, asking(cluster=None))) == "NONE"


def test_a_vote_of_another_voter_is_not_given_for_it(three):
    assert error_of(ask(three, 1, voter=2)) == "INVALID_VOTER_KEY"


def test_who_is_not_a_voter_cannot_stand(three):
    assert error_of(ask(three, 1, candidate=17)) == "INCONSISTENT_VOTER_SET"


@pytest.mark.parametrize(
    "request_",
    [
        VoteRequest(CLUSTER_ID),
        asking(topic="t"),
        VoteRequest(CLUSTER_ID, -1, [VoteRequestTopic(METADATA, [])]),
    ],
)
def test_there_is_one_election_only(three, request_):
    assert error_of(three.ask(1, request_)) == "INVALID_REQUEST"


def test_clients_have_no_part_in_it(three):
    with pytest.raises(Closed):
        three.ask_as_client(1, asking())
