"""RemoveRaftVoter: who answers. What the leader makes of it is in test_voter_changes.py."""

from worlds.growing import all_agree, grown, remove, remove_request, said


def test_on_a_controllers_listener_only_the_leader_answers():
    made = grown()
    follower = next(number for number in (1, 2, 3) if number != made.controller)

    [answer] = made.ask(follower, remove_request(made, 3), listener="CONTROLLER")
    assert said(answer) == "NOT_LEADER_OR_FOLLOWER"


def test_a_broker_passes_it_on():
    made = grown()

    assert remove(made, 3, at=4) == "NONE"
    made.until(lambda: all_agree(made, [1, 2]))


def test_a_voter_of_another_cluster_is_not_removed():
    made = grown()
    request = remove_request(made, 3)
    request.cluster_id = "another"

    assert said(made.answer(2, request)) == "INCONSISTENT_CLUSTER_ID"
