"""Who leads the quorum and how far everybody is, whoever is asked."""

import pytest

from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from worlds.cluster_client import small_cluster
from worlds.controllers import METADATA, NODES, every_version_of
from worlds.node import error_of


def asking(topic=METADATA, *partitions):
    parts = [DescribeQuorumRequestPartition(index) for index in partitions or (0,)]
    return DescribeQuorumRequest([DescribeQuorumRequestTopic(topic, parts)])


@every_version_of(DescribeQuorumRequest)
@pytest.mark.parametrize("number", NODES)
def test_any_broker_can_be_asked(three, number, version):
    answer = three.ask_as_client(number, asking(), version)

    [described] = answer.topics[0].partitions
    assert (error_of(answer), error_of(described)) == ("NONE", "NONE")
    assert (described.leader_id, described.leader_epoch) == (three.leader, three.epoch)
    assert [voter.replica_id for voter in described.current_voters] == NODES


def test_everybody_who_keeps_up_has_the_leaders_end(three):
    [described] = three.ask_as_client(1, asking()).topics[0].partitions
    end = three.raft(three.leader).partition.log.end

    assert {voter.log_end_offset for voter in described.current_voters} == {end}
    assert described.high_watermark == end
    assert all(voter.last_caught_up_timestamp > 0 for voter in described.current_voters)


def test_where_the_controllers_are_is_told_from_version_2_on(three):
    nodes = three.ask_as_client(1, asking(), 2).nodes

    assert [(n.node_id, n.listeners[0].name, n.listeners[0].host, n.listeners[0].port) for n in nodes] == [
        (number, "CONTROLLER", f"node-{number}", 9093) for number in NODES
    ]


def test_brokers_that_do_not_vote_are_observers():
    cluster = small_cluster((1, 2, 3), voters=(1,))
    cluster.pass_time(600)
    [described] = cluster.answer(2, asking()).topics[0].partitions

    assert [state.replica_id for state in described.current_voters] == [1]
    assert [state.replica_id for state in described.observers] == [2, 3]


def test_voters_of_the_settings_are_told_without_a_directory_and_observers_with_theirs():
    cluster = small_cluster((1, 2), voters=(1,))
    cluster.pass_time(600)
    [described] = cluster.answer(2, asking()).topics[0].partitions

    assert [state.replica_directory_id for state in described.current_voters] == [bytes(16)]
    assert bytes(16) not in [state.replica_directory_id for state in described.observers]


def test_an_observer_that_is_long_gone_is_forgotten():
    cluster = small_cluster((1, 2, 3), voters=(1,))
    cluster.kill(3)
    cluster.pass_time(301_000, step=200)
    [described] = cluster.answer(2, asking()).topics[0].partitions

    assert [state.replica_id for state in described.observers] == [2]


@pytest.mark.parametrize(
    "request_", [asking("t"), asking(METADATA, 1), asking(METADATA, 0, 1), DescribeQuorumRequest([])]
)
def test_there_is_one_quorum_and_no_other(three, request_):
    assert error_of(three.ask_as_client(1, request_)) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_at_its_own_door_a_controller_answers_for_itself_only(three):
    """Tools that ask controllers directly try the next one."""
    assert three.error(three.follower, asking()) == "NOT_LEADER_OR_FOLLOWER"
    assert three.error(three.leader, asking()) == "NONE"
