"""A leader that goes says so, and the one it names asks around at once."""

import pytest

from andiron.quorum.roles import Role
from andiron.wire.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochRequestTopic,
    ReplicaInfo,
)
from worlds.controllers import CLUSTER_ID, METADATA, every_version_of
from worlds.node import Closed, error_of


def ending(leader, epoch, successors=(), cluster=CLUSTER_ID):
    part = EndQuorumEpochRequestPartition(
        0, leader, epoch, list(successors), [ReplicaInfo(node) for node in successors]
    )
    return EndQuorumEpochRequest(cluster, [EndQuorumEpochRequestTopic(METADATA, [part])])


def said(three, number, *args, version=None, **how):
    return three.ask(number, ending(*args, **how), version).topics[0].partitions[0]


@every_version_of(EndQuorumEpochRequest)
def test_the_successor_that_is_named_asks_around_at_once(three, version):
    number = three.follower
    quorum = three.raft(number).quorum
    three.cluster.cut |= {(number, other) for other in (1, 2, 3)}  # so that nobody answers yet

    said(three, number, three.leader, three.epoch, [number], version=version)

    assert quorum.role is Role.PROSPECTIVE


def test_the_others_give_it_a_moment(three):
    number = three.follower
    other = next(n for n in (1, 2, 3) if n not in (number, three.leader))

    answer = said(three, number, three.leader, three.epoch, [other, number])

    assert three.raft(number).quorum.role is Role.UNATTACHED
    assert answer.leader_id == -1


def test_the_end_of_an_older_epoch_is_no_news(three):
    answer = said(three, three.follower, 3, 0)

    assert (error_of(answer), answer.leader_id) == ("FENCED_LEADER_EPOCH", three.leader)


def test_another_cluster_is_refused(three):
    assert error_of(three.ask(1, ending(2, 50, cluster="another"))) == "INCONSISTENT_CLUSTER_ID"


def test_who_is_not_a_voter_cannot_have_led(three):
    assert error_of(said(three, three.follower, 17, 50)) == "INCONSISTENT_VOTER_SET"


@pytest.mark.parametrize(
    "empty",
    [
        EndQuorumEpochRequest(CLUSTER_ID),
        EndQuorumEpochRequest(CLUSTER_ID, [EndQuorumEpochRequestTopic(METADATA, [])]),
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
        three.ask_as_client(1, ending(2, 50))
