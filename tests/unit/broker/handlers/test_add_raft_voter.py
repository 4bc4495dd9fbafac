"""AddRaftVoter: who answers. What the leader makes of it is in test_voter_changes.py."""

from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from worlds.growing import add, add_request, directory, grown, remove, said


def described(made):
    topic = DescribeQuorumRequestTopic("__cluster_metadata", [DescribeQuorumRequestPartition(0)])
    return made.answer(made.controller, DescribeQuorumRequest([topic]))


def test_the_quorum_is_described_with_its_directories():
    made = grown()
    [quorum] = described(made).topics[0].partitions
    told = {
        state.replica_id: state.replica_directory_id for state in quorum.current_voters + quorum.observers
    }
    assert [state.replica_id for state in quorum.current_voters] == [1, 2, 3]
    assert [state.replica_id for state in quorum.observers] == [4]
    assert told == {number: directory(made, number) for number in (1, 2, 3, 4)}

    assert add(made, 4) == "NONE"

    answer = described(made)
    [quorum] = answer.topics[0].partitions
    assert [state.replica_id for state in quorum.current_voters] == [1, 2, 3, 4]
    assert (quorum.observers, len(answer.nodes)) == ([], 4)


def test_a_voter_that_is_dead_is_described_with_its_directory_so_that_it_can_be_removed():
    made = grown()
    leader, where = made.controller, {number: directory(made, number) for number in (1, 2, 3)}
    made.kill(leader)
    made.until(lambda: made.controller not in (None, -1, leader))

    [quorum] = described(made).topics[0].partitions
    told = {state.replica_id: state.replica_directory_id for state in quorum.current_voters}

    assert told == where
    assert remove(made, leader, where=told[leader]) == "NONE"


def test_on_a_controllers_listener_only_the_leader_answers():
    made = grown()
    follower = next(number for number in (1, 2, 3) if number != made.controller)

    [answer] = made.ask(follower, add_request(made, 4), listener="CONTROLLER")
    assert said(answer) == "NOT_LEADER_OR_FOLLOWER"
    [answer] = made.ask(made.controller, add_request(made, 4), version=0, listener="CONTROLLER")
    assert said(answer) == "NONE"


def test_a_voter_of_another_cluster_is_not_added():
    made = grown()
    request = add_request(made, 4)
    request.cluster_id = "another"

    assert said(made.answer(2, request)) == "INCONSISTENT_CLUSTER_ID"
