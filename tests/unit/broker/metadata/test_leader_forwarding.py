"""What only the leader of the quorum can answer is asked of it, wherever it is by then."""

from andiron.model.errors import ErrorCode
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from worlds.cluster import SmallCluster

DESCRIBE = DescribeQuorumRequest(
    [DescribeQuorumRequestTopic("__cluster_metadata", [DescribeQuorumRequestPartition(0)])]
)


def cluster():
    made = SmallCluster()
    made.until(made.all_ready)
    return made


def leader_told(answer):
    assert answer.error_code == 0, answer.error_message
    return answer.topics[0].partitions[0].leader_id


def test_every_broker_knows_what_the_leader_says():
    made = cluster()

    assert [leader_told(made.answer(number, DESCRIBE)) for number in (1, 2, 3)] == [made.controller] * 3


def test_on_a_controllers_listener_only_the_leader_answers():
    made = cluster()
    answers = {number: made.ask(number, DESCRIBE, listener="CONTROLLER")[0] for number in (1, 2, 3)}

    codes = {number: ErrorCode.of(answer.error_code).name for number, answer in answers.items()}
    assert codes == dict.fromkeys((1, 2, 3), "NOT_LEADER_OR_FOLLOWER") | {made.controller: "NONE"}


def test_a_node_that_leads_by_the_time_that_it_would_ask_answers_itself():
    made = cluster()
    follower = next(number for number in (1, 2, 3) if number != made.controller)
    while made.controller != follower:
        leader = made.controller
        made.kill(leader)
        answers = made.ask(follower, DESCRIBE)
        made.until(lambda was=leader: made.controller not in (None, -1, was))
        made.until(lambda told=answers: told)
        assert leader_told(answers[0]) == made.controller
        made.start(leader)
        made.until(made.all_ready)
