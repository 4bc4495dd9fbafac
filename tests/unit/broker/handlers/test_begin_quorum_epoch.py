"""A node that says it leads is followed, if it can be."""

import pytest

from andiron.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
    LeaderEndpoint,
)
from worlds.controllers import CLUSTER_ID, METADATA, every_version_of
from worlds.node import Closed, error_of


def beginning(leader, epoch, cluster=CLUSTER_ID, voter=-1):
    part = BeginQuorumEpochRequestPartition(0, leader_id=leader, leader_epoch=epoch)
    return BeginQuorumEpochRequest(cluster, voter, [BeginQuorumEpochRequestTopic(METADATA, [part])])


def said(three, number, *args, version=None, **how):
    return three.ask(number, beginning(*args, **how), version).topics[0].partitions[0]


@every_version_of(BeginQuorumEpochRequest)
def test_a_leader_of_a_later_epoch_is_followed(three, version):
    number = three.follower
    other = next(n for n in (1, 2, 3) if n not in (number, three.leader))

    answer = said(three, number, other, 50, version=version)

    assert (error_of(answer), answer.leader_id, answer.leader_epoch) == ("NONE", other, 50)
    assert three.raft(number).leader == other


def test_the_leader_that_is_known_already_is_heard_again(three):
    number, leader = three.follower, three.leader

    answer = said(three, number, leader, three.epoch)

    assert (error_of(answer), answer.leader_id) == ("NONE", leader)


def test_a_leader_that_was_never_heard_of_says_where_it_is_reached(three):
    """Who was away while it was let in has it in no log."""
    number, leader = three.follower, three.leader
    voters = three.raft(number).voters
    before = voters.addresses.pop(leader)
    request = beginning(leader, three.epoch)

    for host in (before.host, "elsewhere"):
        request.leader_endpoints = [LeaderEndpoint("CONTROLLER", host, before.port)]
        three.ask(number, request)
        assert voters.addresses[leader] == before, "and what is known stays"


def test_a_leader_of_an_older_epoch_is_fenced_and_told_who_leads(three):
    answer = said(three, three.follower, 3, 0)

    assert (error_of(answer), answer.leader_id, answer.leader_epoch) == (
        "FENCED_LEADER_EPOCH",
        three.leader,
        three.epoch,
    )


def test_a_leader_steps_down_for_a_later_one(three):
    number, other = three.leader, three.follower

    said(three, number, other, 50)

    assert not three.cluster.broker(number).controller.is_active


def test_another_cluster_is_refused(three):
    assert error_of(three.ask(1, beginning(2, 50, cluster="another"))) == "INCONSISTENT_CLUSTER_ID"


def test_who_is_not_a_voter_cannot_lead(three):
    before = three.epoch

    assert error_of(said(three, three.follower, 17, 50)) == "INCONSISTENT_VOTER_SET"
    assert three.raft(three.follower).quorum.epoch == before


def test_what_is_meant_for_another_voter_is_refused(three):
    number = three.follower

    assert error_of(said(three, number, three.leader, 50, voter=three.leader)) == "INVALID_VOTER_KEY"


def test_a_second_leader_in_one_epoch_is_refused(three):
    """It cannot be, so whoever says so has another election in mind."""
    number = three.follower
    other = next(n for n in (1, 2, 3) if n not in (number, three.leader))

    answer = said(three, number, other, three.epoch)

    assert error_of(answer) == "INVALID_REQUEST"
    assert answer.leader_id == three.leader


@pytest.mark.parametrize(
    "empty",
    [
        BeginQuorumEpochRequest(CLUSTER_ID),
        BeginQuorumEpochRequest(CLUSTER_ID, -1, [BeginQuorumEpochRequestTopic(METADATA, [])]),
    ],
)
def test_a_request_that_says_nothing_is_refused(three, empty):
    assert error_of(three.ask(1, empty)) == "INVALID_REQUEST"


def test_an_epoch_that_there_cannot_be_is_refused_and_costs_nobody_anything(three):
    number, before = three.follower, three.epoch

    answer = said(three, number, three.leader, (1 << 31) - 1)

    assert (error_of(answer), answer.leader_epoch) == ("INVALID_REQUEST", before)
    assert three.raft(number).quorum.epoch == before


def test_clients_have_no_part_in_it(three):
    with pytest.raises(Closed):
        three.ask_as_client(1, beginning(2, 50))
