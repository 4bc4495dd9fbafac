"""Members enter a rebalance, and are answered when all are in."""

import pytest

from andiron.broker.handlers import join_group
from andiron.model.effects import Disconnected
from worlds.coordinating import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Member,
    every_version,
    heartbeat_request,
    join_request,
    joined,
    loading,
    recover,
    send_join,
    shard_of,
    sync_request,
)
from worlds.node import error_of

IDS_FIRST_SINCE, NO_PROTOCOL_SINCE = 4, 7


@every_version(join_group)
def test_a_member_alone_is_the_leader_of_the_first_generation(coordinator, version):
    ticket = send_join(coordinator, version, metadata=b"mine")
    coordinator.settle()

    answer = coordinator.answer(ticket)

    assert (error_of(answer), answer.generation_id, answer.protocol_name) == ("NONE", 1, "range")
    assert answer.leader == answer.member_id
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert [(each.member_id, each.metadata) for each in answer.members] == [(answer.member_id, b"mine")]


@every_version(join_group)
def test_a_newcomer_is_given_an_id_first_by_versions_that_can_say_so(coordinator, version):
    answer = coordinator.answer(coordinator.send(join_request(), version))

    if version < IDS_FIRST_SINCE:
        assert answer is None
    else:
        assert error_of(answer) == "MEMBER_ID_REQUIRED"
        assert answer.member_id.startswith("test-")


@every_version(join_group)
def test_those_who_come_together_are_answered_together(coordinator, version):
    first, second = (send_join(coordinator, version) for _ in range(2))
    coordinator.settle()

    answers = [coordinator.answer(ticket) for ticket in (first, second)]

    assert {answer.generation_id for answer in answers} == {1}
    assert {answer.leader for answer in answers} == {answers[0].member_id}
    assert [len(answer.members) for answer in answers] == [2, 0]


def test_a_newcomer_waits_for_those_who_are_there_already(coordinator):
    member = joined(coordinator)
    waiting = send_join(coordinator)
    coordinator.settle()
    assert coordinator.answer(waiting) is None
    assert error_of(coordinator.ask(heartbeat_request(member))) == "REBALANCE_IN_PROGRESS"

    coordinator.ask(join_request(member.id))

    assert coordinator.answer(waiting).generation_id == 2


def test_whoever_does_not_come_is_not_waited_for_for_ever(coordinator):
    joined(coordinator, session_ms=REBALANCE_MS * 2)
    waiting = send_join(coordinator, session_ms=REBALANCE_MS * 2)

    coordinator.advance(REBALANCE_MS)

    answer = coordinator.answer(waiting)
    assert (error_of(answer), answer.generation_id, len(answer.members)) == ("NONE", 2, 1)


def test_one_that_hangs_up_while_it_waits_is_out_when_its_session_is_over(coordinator):
    coordinator.connect(2)
    member = joined(coordinator, session_ms=SESSION_MS * 4)
    first = coordinator.ask(join_request(), conn=2)
    coordinator.send(join_request(first.member_id), conn=2)
    coordinator.step(Disconnected(2))

    coordinator.ask(join_request(member.id, session_ms=SESSION_MS * 4))
    coordinator.advance(SESSION_MS)

    answer = coordinator.ask(heartbeat_request(Member(member.id, 2)))
    assert error_of(answer) == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"group": ""}, "INVALID_GROUP_ID"),
        ({"session_ms": 5}, "INVALID_SESSION_TIMEOUT"),
        ({"member_id": "who?"}, "UNKNOWN_MEMBER_ID"),
        ({"group": "joined", "protocol_type": "connect"}, "INCONSISTENT_GROUP_PROTOCOL"),
    ],
)
@every_version(join_group)
def test_a_refusal_has_the_member_id_that_was_sent_and_no_protocol(coordinator, version, how, code):
    joined(coordinator, group="joined")

    answer = coordinator.ask(join_request(**how), version)

    assert (error_of(answer), answer.member_id) == (code, how.get("member_id", ""))
    assert (answer.generation_id, answer.leader, answer.members) == (-1, "", [])
    assert answer.protocol_name == (None if version >= NO_PROTOCOL_SINCE else "")


@every_version(join_group)
def test_while_the_group_is_loaded_members_are_told_to_come_again(coordinator, version):
    loading(coordinator)

    assert error_of(coordinator.ask(join_request(), version)) == "COORDINATOR_LOAD_IN_PROGRESS"


@every_version(join_group, since=5)
def test_a_static_member_that_is_back_gets_a_new_id_and_no_rebalance(coordinator, version):
    before = joined(coordinator, instance="i")
    recover(coordinator)

    after = coordinator.ask(join_request(instance="i"), version)

    assert (error_of(after), after.generation_id) == ("NONE", before.generation)
    assert after.member_id != before.id
    old = coordinator.ask(heartbeat_request(before, instance="i"))
    assert error_of(old) == "FENCED_INSTANCE_ID"


def test_those_who_wait_are_sent_away_when_the_coordinators_log_fails(coordinator):
    joined(coordinator)
    waiting = send_join(coordinator)
    coordinator.partition("__consumer_offsets", shard_of(GROUP)).fail("the disk is on fire")

    refused = coordinator.ask(sync_request(Member("who?", 1)))
    assert error_of(refused) == "UNKNOWN_MEMBER_ID", "nothing is written for that"
    coordinator.advance(SESSION_MS + REBALANCE_MS)

    answer = coordinator.answer(waiting)
    assert (error_of(answer), answer.protocol_name) == ("NOT_COORDINATOR", None)
