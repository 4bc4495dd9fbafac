"""Who asks for a vote is given it or not, and told who leads."""

import pytest

from andiron.wire.messages.vote import VoteRequest, VoteRequestPartition, VoteRequestTopic
from worlds.controllers import CLUSTER_ID, METADATA, every_version_of
from worlds.node import Closed, error_of

MUCH = 1 << 40


def asking(
    candidate=3, epoch=99, cluster=CLUSTER_ID, voter=-1, directory=bytes(16), pre_vote=False, end=(98, MUCH),
    topic=METADATA, partition=0,
):  # fmt: skip
    part = VoteRequestPartition(
        partition, epoch, candidate, bytes(16), directory, end[0], end[1], pre_vote=pre_vote
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
    answer = ask(three, three.follower, epoch=0, end=(0, MUCH), pre_vote=True)

    assert (error_of(answer), answer.vote_granted) == ("FENCED_LEADER_EPOCH", False)
    assert (answer.leader_id, answer.leader_epoch) == (three.leader, three.epoch)


def test_a_pre_vote_costs_nobody_an_epoch(three):
    number, before = three.follower, three.epoch

    answer = ask(three, number, pre_vote=True, epoch=before, end=(before, MUCH), candidate=three.leader)

    assert not answer.vote_granted  # it hears its leader
    assert three.raft(number).quorum.epoch == before


def test_another_cluster_gets_no_vote(three):
    assert error_of(three.ask(1, asking(cluster="another"))) == "INCONSISTENT_CLUSTER_ID"


def test_a_request_need_not_name_the_cluster(three):
    assert error_of(three.ask(three.follower, asking(cluster=None))) == "NONE"


def test_a_vote_of_another_voter_is_not_given_for_it(three):
    assert error_of(ask(three, 1, voter=2)) == "INVALID_VOTER_KEY"


def test_a_vote_of_a_disk_that_is_gone_is_not_given_by_its_successor(three):
    mine = three.cluster.broker(1).directories.metadata_id

    assert error_of(ask(three, 1, voter=1, directory=bytes(15) + b"\x07")) == "INVALID_VOTER_KEY"
    assert error_of(ask(three, 1, voter=1, directory=mine)) == "NONE"


def test_who_is_not_a_voter_cannot_stand(three):
    assert error_of(ask(three, 1, candidate=17)) == "INCONSISTENT_VOTER_SET"


@pytest.mark.parametrize("epoch", [(1 << 31) - 1, 1 << 30, 2 << 20])
def test_an_epoch_that_there_cannot_be_is_refused_and_costs_nobody_anything(three, epoch):
    number, before = three.follower, three.epoch

    answer = ask(three, number, epoch=epoch, candidate=three.leader)

    assert (error_of(answer), answer.vote_granted, answer.leader_epoch) == ("INVALID_REQUEST", False, before)
    assert three.raft(number).quorum.epoch == before


@pytest.mark.parametrize(
    "claim",
    [
        {"candidate": -1},
        {"end": (-1, 5)},
        {"end": (5, -1)},
        {"end": (99, 5)},
        {"end": (100, 5), "pre_vote": True},
    ],
)
def test_what_no_candidate_can_say_of_itself_is_refused(three, claim):
    before = three.epoch

    assert error_of(ask(three, three.follower, **claim)) == "INVALID_REQUEST"
    assert three.raft(three.follower).quorum.epoch == before


@pytest.mark.parametrize(
    "request_",
    [
        VoteRequest(CLUSTER_ID),
        asking(topic="t"),
        asking(partition=1),
        VoteRequest(CLUSTER_ID, -1, [*asking().topics, *asking().topics]),
        VoteRequest(CLUSTER_ID, -1, [VoteRequestTopic(METADATA, [])]),
    ],
)
def test_a_vote_is_about_the_metadata_partition_only(three, request_):
    assert error_of(three.ask(1, request_)) == "INVALID_REQUEST"


def test_clients_have_no_part_in_it(three):
    with pytest.raises(Closed):
        three.ask_as_client(1, asking())
