"""Voters come and go while the quorum runs, one at a time; whoever dies meanwhile, one set of voters comes of it."""

import pytest

from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest
from worlds.cluster import SmallCluster
from worlds.growing import (
    add,
    add_request,
    all_agree,
    can_write,
    directory,
    grown,
    remove,
    remove_request,
    said,
    voters_at,
)


def test_a_founder_votes_alone_until_others_are_given_a_vote():
    made = SmallCluster((1, 2, 3), founder=1)
    made.until(made.all_ready)
    assert made.controller == 1
    assert voters_at(made, 1) == [1]

    assert add(made, 2) == "NONE"
    assert add(made, 3) == "NONE"

    made.until(lambda: all_agree(made, [1, 2, 3]))
    made.kill(1)
    made.until(lambda: made.controller in (2, 3))
    assert can_write(made, "without-the-founder")


def test_any_node_can_be_asked():
    made = grown()

    assert add(made, 4, at=4) == "NONE"
    made.until(lambda: all_agree(made, [1, 2, 3, 4]))
    assert remove(made, 2, at=2) == "NONE"
    made.until(lambda: all_agree(made, [1, 3, 4]))


def test_a_fourth_voter_counts():
    made = grown(voters=(1, 2, 3, 4))
    made.kill(3, 4)
    made.pass_time(10_000)
    assert made.controller in (None, -1), "two of four are no majority"

    made.start(4)
    made.until(lambda: made.controller in (1, 2, 4))


def test_one_less_counts_too():
    made = grown()
    assert remove(made, 3) == "NONE"
    made.kill(3)
    assert add(made, 4) == "NONE"
    made.kill(4)
    made.pass_time(3_000)

    assert made.controller == 1, "two of three are a majority"
    assert can_write(made, "t")


def test_what_voters_are_is_found_again_at_a_start():
    made = grown()
    for number in (1, 2, 3, 4):
        made.kill(number)
    for number in (2, 3, 4):
        made.start(number)

    made.until(lambda: made.controller in (2, 3))
    assert voters_at(made, 4) == [1, 2, 3]


def test_what_voters_are_is_found_in_snapshots():
    made = grown(metadata_log_max_record_bytes_between_snapshots=800, metadata_max_retention_bytes=0)
    for number in range(20):
        assert can_write(made, f"t{number}")
        made.pass_time(100)
    assert all(made.broker(number).raft.partition.log.start > 0 for number in (1, 2, 3, 4))
    made.kill(1, 2, 3, 4)
    made.members[4].disk = made._disk(4)
    for number in (1, 2, 3, 4):
        made.start(number)

    made.until(lambda: all_agree(made, [1, 2, 3]) and made.all_ready())


# ── the leader goes ──────────────────────────────────────────────────────────────────


def test_a_leader_that_is_removed_resigns_when_that_is_committed():
    made = grown()
    leader = made.controller

    assert remove(made, leader) == "NONE"

    left = [number for number in (1, 2, 3) if number != leader]
    made.until(lambda: all_agree(made, left))
    assert not made.broker(leader).controller.is_active
    made.pass_time(20_000)
    assert all_agree(made, left), "and does not come back"
    assert can_write(made, "t")
    assert add(made, leader) == "NONE"
    made.until(lambda: all_agree(made, [1, 2, 3]))


def test_a_leader_that_is_removed_counts_the_others_only():
    made = grown(voters=(1, 2))
    assert made.controller == 1
    made.cut |= {(1, 2), (2, 1)}
    answers = made.ask(1, remove_request(made, 1))
    made.pass_time(200)
    assert not answers, "what it holds itself does not count"

    made.cut.clear()
    made.until(lambda: answers)
    made.until(lambda: all_agree(made, [2]))


# ── who was away ─────────────────────────────────────────────────────────────────────


def test_one_that_was_removed_while_it_was_away_hears_of_it_and_follows():
    made = grown()
    where, folder = directory(made, 3), made.broker(3).raft.partition.log.directory
    made.kill(3)
    assert remove(made, 3, where=where) == "NONE"
    made.members[3].disk.remove(f"{folder}/quorum-state")  # it had not heard yet who leads in this epoch
    made.start(3)

    made.until(lambda: made.all_ready() and voters_at(made, 3) == [1, 2])


def test_one_that_was_away_while_the_leader_was_let_in_finds_it():
    made = grown()
    made.kill(3)
    assert add(made, 4) == "NONE"
    assert remove(made, 1) == "NONE"
    made.until(lambda: voters_at(made, 4) == [2, 3, 4])
    made.kill(2)
    made.start(3)

    made.until(lambda: made.controller == 4 and voters_at(made, 3) == [2, 3, 4])


# ── refused ──────────────────────────────────────────────────────────────────────────


def test_voters_of_the_settings_stay():
    made = SmallCluster()
    made.until(made.all_ready)
    answer = made.answer(made.controller, add_request(made, 1))

    assert said(answer) == "UNSUPPORTED_VERSION"
    assert "controller.quorum.voters" in answer.error_message
    assert remove(made, 1) == "UNSUPPORTED_VERSION"


def test_who_votes_is_not_added_and_who_does_not_is_not_removed():
    made = grown()

    assert add(made, 2) == "DUPLICATE_VOTER"
    assert add(made, 2, where=b"x" * 16) == "DUPLICATE_VOTER"
    assert remove(made, 4) == "VOTER_NOT_FOUND"
    assert remove(made, 2, where=b"x" * 16) == "VOTER_NOT_FOUND"


def test_somebody_has_to_vote():
    made = SmallCluster((1,), founder=1)
    made.until(made.all_ready)

    assert remove(made, 1) == "INVALID_REQUEST"


def test_one_that_has_not_caught_up_in_time_gets_no_vote():
    made = grown()
    where = directory(made, 4)
    made.kill(4)
    made.pass_time(3_000)

    assert add(made, 4, where=where, timeout_ms=1_000) == "REQUEST_TIMED_OUT"
    assert voters_at(made, 1) == [1, 2, 3]


def test_one_that_catches_up_in_time_gets_it():
    made = grown()
    where = directory(made, 4)
    made.kill(4)
    made.pass_time(3_000)
    answers = made.ask(made.controller, add_request(made, 4, where=where, timeout_ms=60_000))
    made.pass_time(1_000)
    assert not answers

    made.start(4)
    made.until(lambda: answers)

    assert said(answers[0]) == "NONE"


def test_one_with_another_disk_than_is_named_gets_none():
    made = grown()

    assert add(made, 4, where=b"x" * 16, timeout_ms=500) == "REQUEST_TIMED_OUT"


def test_one_that_is_nowhere_gets_none():
    made = grown()
    answer = made.answer(1, AddRaftVoterRequest(None, 500, 4, directory(made, 4), []))

    assert said(answer) == "INVALID_REQUEST"


def test_one_change_at_a_time():
    made = grown(nodes=(1, 2, 3, 4, 5))
    leader = made.controller
    followers = [number for number in (1, 2, 3) if number != leader]
    made.cut |= {(number, leader) for number in followers}
    first = made.ask(leader, add_request(made, 4))

    [second] = made.ask(leader, add_request(made, 5))
    [third] = made.ask(leader, remove_request(made, followers[0]))

    assert not first
    assert [said(second), said(third)] == ["REQUEST_TIMED_OUT"] * 2
    made.cut.clear()
    made.until(lambda: first)
    assert said(first[0]) == "NONE"


def test_a_new_leader_that_has_committed_nothing_changes_nothing():
    made = SmallCluster((1, 2), founder=1)
    made.until(made.all_ready)
    assert add(made, 2) == "NONE"
    partition = made.broker(1).raft.partition
    leader = partition.leader()
    leader.epoch_start = leader.watermark

    assert remove(made, 2) == "REQUEST_TIMED_OUT"


def test_it_can_be_answered_before_it_is_committed():
    made = grown()
    leader = made.controller
    made.cut |= {(number, leader) for number in (1, 2, 3) if number != leader}
    made.pass_time(300)

    [answer] = made.ask(leader, add_request(made, 4, ack_when_committed=False))

    assert said(answer) == "NONE"
    assert voters_at(made, leader) == [1, 2, 3, 4]


# ── who dies meanwhile ───────────────────────────────────────────────────────────────


def test_a_change_that_only_a_lost_leader_knew_of_is_undone():
    made = grown()
    leader = made.controller
    others = [number for number in (1, 2, 3, 4) if number != leader]
    made.cut |= {pair for number in others for pair in ((number, leader), (leader, number))}
    answers = made.ask(leader, remove_request(made, others[0]))
    assert voters_at(made, leader) == [number for number in (1, 2, 3) if number != others[0]]

    made.until(lambda: made.broker(others[0]).raft.leader in others)
    made.cut.clear()
    made.until(lambda: all_agree(made, [1, 2, 3]))

    made.until(lambda: answers)
    assert said(answers[0]) in ("NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT")


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("what", ["add", "remove", "remove the leader"])
def test_a_leader_that_dies_in_the_middle_leaves_one_set_of_voters_behind(what, power):
    made = grown()
    leader = made.controller
    number = {"add": 4, "remove": next(n for n in (1, 2, 3) if n != leader), "remove the leader": leader}[
        what
    ]
    after = sorted({1, 2, 3, 4} if what == "add" else {1, 2, 3} - {number})
    request = add_request(made, number) if what == "add" else remove_request(made, number)
    made.ask(leader, request)
    (made.lose_power if power else made.kill)(leader)
    made.pass_time(3_000)

    made.start(leader)
    made.until(lambda: all_agree(made, [1, 2, 3]) or all_agree(made, after))
    assert can_write(made, "t")


def test_a_leader_that_goes_and_dies_before_anybody_has_heard_of_it_comes_back_to_tell():
    made = grown(voters=(1, 2))
    made.cut |= {pair for number in (2, 3, 4) for pair in ((number, 1), (1, number))}
    made.ask(1, remove_request(made, 1))
    assert (voters_at(made, 1), voters_at(made, 2)) == ([2], [1, 2])
    made.kill(1)
    made.cut.clear()
    made.pass_time(5_000)
    assert made.controller in (None, -1), "2 needs the vote of 1, whose log is longer"

    made.start(1)
    made.until(lambda: all_agree(made, [2]))


def test_everybody_may_die_in_the_middle():
    made = grown()
    made.ask(made.controller, add_request(made, 4))
    made.lose_power(1, 2, 3, 4)
    for number in (1, 2, 3, 4):
        made.start(number)

    made.until(lambda: any(all_agree(made, voters) for voters in ([1, 2, 3], [1, 2, 3, 4])))
    assert can_write(made, "t")
