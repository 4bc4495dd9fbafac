"""How a group gets from one generation to the next, seen by its members."""

from __future__ import annotations

from andiron.groups.classic.states import ClassicState
from andiron.groups.records import GroupMetadataKey, GroupMetadataValue, GroupRecord, MemberMetadata
from andiron.model.errors import ErrorCode
from andiron.model.machine import Promise
from groups.classic import (
    BATCH_MAX,
    DELAY_MS,
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Classic,
    answer,
    error_of,
    refusal,
)

FIVE_MINUTES = 5 * 60 * 1000


# ── the first generation ─────────────────────────────────────────────────────────────


def test_assignments_that_cannot_be_written_are_given_to_nobody_and_all_join_again():
    classic = Classic()
    leader, other = (classic.arrive()[0] for _ in range(2))
    classic.pass_time(2 * DELAY_MS)
    generation = classic.group().generation
    waiting = classic.sync(other, generation)
    written = len(classic.log)

    refused = classic.sync(leader, generation, {leader: bytes(BATCH_MAX), other: b"x"})

    assert error_of(refused) is error_of(answer(waiting)) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(classic.log) == written
    assert classic.group().state == ClassicState.PREPARING_REBALANCE
    assert classic.heartbeat(other, generation) is ErrorCode.REBALANCE_IN_PROGRESS


def test_the_first_rebalance_waits_for_others():
    classic = Classic()
    first, promise = classic.arrive()
    assert classic.group().state == ClassicState.PREPARING_REBALANCE

    classic.pass_time(DELAY_MS - 1)
    assert not promise.kept
    classic.pass_time(1)

    assert answer(promise).leader == first
    assert classic.group().state == ClassicState.COMPLETING_REBALANCE


def test_the_delay_is_prolonged_once_for_all_who_came_in_the_meantime():
    classic = Classic()
    _, first = classic.arrive()
    classic.pass_time(1000)
    _, second = classic.arrive()
    _, third = classic.arrive()
    classic.pass_time(2000)
    assert not first.kept

    classic.pass_time(DELAY_MS)

    assert [answer(each).generation_id for each in (first, second, third)] == [1, 1, 1]


def test_the_delay_is_prolonged_up_to_the_rebalance_timeout():
    classic = Classic()
    _, first = classic.arrive(rebalance_ms=7000)
    for _ in range(3):
        classic.arrive(rebalance_ms=7000)
        classic.pass_time(2000)
    assert not first.kept

    classic.arrive(rebalance_ms=7000)
    classic.pass_time(1000)

    assert first.kept
    assert len(answer(first).members) == 5


def test_without_a_delay_the_first_one_does_not_wait():
    classic = Classic(group_initial_rebalance_delay_ms=0)
    _, promise = classic.arrive()

    classic.pass_time(0)

    assert promise.kept


def test_one_who_leaves_before_the_first_generation_leaves_it_to_nobody():
    classic = Classic()
    member, promise = classic.arrive()

    assert classic.leave(member) == [ErrorCode.NONE]
    assert error_of(answer(promise)) is ErrorCode.UNKNOWN_MEMBER_ID
    classic.pass_time(DELAY_MS)

    assert (classic.group().state, classic.group().generation) == (ClassicState.EMPTY, 1)
    assert [record.value.generation for record in classic.log] == [1]


# ── later ones ───────────────────────────────────────────────────────────────────────


def test_a_newcomer_waits_until_all_others_have_joined_again():
    classic = Classic()
    first, second = classic.stable(2)
    _, third = classic.arrive()
    assert classic.heartbeat(first, 1) is ErrorCode.REBALANCE_IN_PROGRESS

    assert isinstance(classic.join(first), Promise)
    assert not third.kept
    rejoined = classic.join(second)

    assert rejoined.generation_id == answer(third).generation_id == 2
    assert (classic.group().state, classic.group().leader) == (ClassicState.COMPLETING_REBALANCE, first)


def test_the_last_one_to_join_is_answered_with_all_who_wait():
    classic = Classic()
    first, second = classic.stable(2)
    _, third = classic.arrive()
    waiting = classic.join(first)

    classic.join(second)

    assert classic.kept == [waiting, third]


def test_members_that_do_not_join_in_time_are_left_out():
    classic = Classic()
    first, second = classic.stable(2)
    third, promise = classic.arrive()
    for _ in range(7):  # the others send heartbeats and do nothing else
        classic.pass_time(SESSION_MS - 1500)
        if not promise.kept:
            classic.heartbeat(first, 1), classic.heartbeat(second, 1)
    classic.pass_time(REBALANCE_MS - 7 * (SESSION_MS - 1500))

    assert answer(promise).leader == third
    assert list(classic.group().members) == [third]
    assert refusal(lambda: classic.heartbeat(first, 2)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_static_members_that_do_not_join_in_time_stay_but_do_not_lead():
    classic = Classic()
    (leader,) = classic.stable(1, instance="i", session_ms=SESSION_MS * 10)
    follower, promise = classic.arrive()

    classic.pass_time(REBALANCE_MS)

    assert answer(promise).leader == follower
    assert [each.group_instance_id for each in answer(promise).members] == ["i", None]
    assert set(classic.group().members) == {leader, follower}


def test_a_group_whose_static_members_do_not_come_waits_for_them_again():
    classic = Classic()
    members = [classic.arrive(instance=name, session_ms=600_000)[0] for name in "ij"]
    classic.pass_time(2 * DELAY_MS)
    classic.sync_all()
    classic.leave(members[1])

    classic.pass_time(3 * REBALANCE_MS)
    assert (classic.group().state, list(classic.group().members)) == (
        ClassicState.PREPARING_REBALANCE,
        members[:1],
    )
    classic.pass_time(600_000)

    assert (classic.group().state, list(classic.group().members)) == (ClassicState.EMPTY, [])


def test_when_the_last_member_goes_an_empty_generation_is_written():
    classic = Classic()
    (only,) = classic.stable(1)
    classic.pass_time(500)

    classic.leave(only)

    value = classic.log[-1].value
    assert (value.generation, value.protocol, value.leader, value.members) == (2, None, None, [])
    assert (value.protocol_type, value.current_state_timestamp) == ("consumer", classic.now)
    assert classic.group().state == ClassicState.EMPTY


def test_an_empty_group_begins_again_with_the_delay_and_the_next_generation():
    classic = Classic()
    (only,) = classic.stable(1)
    classic.leave(only)

    _, promise = classic.arrive(protocol_type="connect")
    assert not promise.kept
    classic.pass_time(DELAY_MS)

    assert answer(promise).generation_id == 3
    assert answer(promise).protocol_type == "connect"


def test_whoever_waits_for_an_assignment_is_sent_back_when_someone_comes():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    first, second = classic.group().members
    waiting = classic.sync(second, 1)

    classic.arrive()

    assert error_of(answer(waiting)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert refusal(lambda: classic.sync(first, 1, {first: b"x"})) is ErrorCode.REBALANCE_IN_PROGRESS


def test_assignments_are_taken_back_when_they_were_not_complete_but_kept_from_a_stable_generation():
    classic = Classic()
    first, _ = classic.stable(2)

    classic.join(first)  # the leader wants to assign anew
    assert classic.group().members[first].assignment == first.encode()
    second = next(each for each in classic.group().members if each != first)
    classic.join(second)
    assert classic.group().state == ClassicState.COMPLETING_REBALANCE
    classic.join(first, {"range": b"new", "robin": b"b"})

    assert [member.assignment for member in classic.group().members.values()] == [b"", b""]


# ── assigning ────────────────────────────────────────────────────────────────────────


def test_what_the_leader_says_is_written_and_told_to_all_who_wait():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    leader, follower = classic.group().members
    waiting = classic.sync(follower, 1)

    response = classic.sync(leader, 1, {leader: b"1", follower: b"2", "nobody": b"3"})

    assert (response.assignment, answer(waiting).assignment) == (b"1", b"2")
    assert classic.kept == [waiting]
    (record,) = classic.log
    assert [(each.member_id, each.assignment) for each in record.value.members] == [
        (leader, b"1"),
        (follower, b"2"),
    ]
    assert classic.group().state == ClassicState.STABLE


def test_members_that_the_leader_forgot_get_nothing():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    leader, follower = classic.group().members

    classic.sync(leader, 1, {leader: b"1"})

    assert classic.sync(follower, 1).assignment == b""


def test_members_that_do_not_sync_in_time_are_left_out():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    leader, follower = classic.group().members
    waiting = classic.sync(follower, 1)

    for _ in range(8):  # the leader is alive and does not assign
        classic.pass_time(SESSION_MS - 2500)
        if leader in classic.group().members and classic.group().state == ClassicState.COMPLETING_REBALANCE:
            classic.heartbeat(leader, 1)

    assert error_of(answer(waiting)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert leader not in classic.group().members
    assert refusal(lambda: classic.heartbeat(leader, 1)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_followers_that_never_asked_for_their_assignment_are_left_out_of_a_stable_group():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    leader, follower = classic.group().members
    classic.sync(leader, 1, {leader: b"1", follower: b"2"})

    for _ in range(8):
        classic.pass_time(SESSION_MS - 2500)
        for member in classic.group().members:
            classic.heartbeat(member, 1)

    assert list(classic.group().members) == [leader]
    assert classic.group().state == ClassicState.PREPARING_REBALANCE


def test_once_all_have_asked_nobody_is_left_out():
    classic = Classic()
    first, second = classic.stable(2)

    for _ in range(20):
        classic.pass_time(SESSION_MS - 1000)
        assert classic.heartbeat(first, 1) is classic.heartbeat(second, 1) is ErrorCode.NONE

    assert classic.group().state == ClassicState.STABLE


# ── sessions ─────────────────────────────────────────────────────────────────────────


def test_a_member_that_is_not_heard_from_is_gone():
    classic = Classic()
    first, second = classic.stable(2)
    classic.pass_time(SESSION_MS - 1)
    classic.heartbeat(first, 1)

    classic.pass_time(1)

    assert list(classic.group().members) == [first]
    assert refusal(lambda: classic.heartbeat(second, 1)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_waits_to_join_need_not_be_heard_from():
    classic = Classic()
    first, second = classic.stable(2)
    classic.arrive()
    waiting = classic.join(first)

    for _ in range(6):
        classic.pass_time(SESSION_MS - 1000)
        classic.heartbeat(second, 1)

    assert first in classic.group().members
    assert not waiting.kept


def test_a_newcomer_is_waited_for_five_minutes_and_no_longer():
    classic = Classic(group_initial_rebalance_delay_ms=FIVE_MINUTES + 1)
    member, promise = classic.arrive()

    classic.pass_time(FIVE_MINUTES - 1)
    assert member in classic.group().members
    classic.pass_time(1)

    assert member not in classic.group().members
    assert error_of(answer(promise)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_leaves_while_it_waits_is_answered():
    classic = Classic()
    classic.arrive(), classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    _, follower = classic.group().members
    waiting = classic.sync(follower, 1)

    classic.leave(follower)

    assert error_of(answer(waiting)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_one_who_was_given_an_id_is_waited_for_until_its_session_ends():
    classic = Classic()
    first, _ = classic.stable(2)
    classic.join()
    rejoined = classic.join(first)
    other = next(each for each in classic.group().members if each != first)
    also = classic.join(other)
    assert not rejoined.kept

    classic.pass_time(SESSION_MS)

    assert answer(rejoined).generation_id == answer(also).generation_id == 2


def test_a_request_sent_twice_is_answered_twice():
    classic = Classic()
    first, second = classic.stable(2)
    classic.arrive()
    before = classic.join(first)
    again = classic.join(first)
    classic.join(second)

    assert error_of(answer(before)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert answer(again).generation_id == 2


def test_a_rebalance_timeout_of_nothing_does_not_keep_the_clock_busy():
    members = [MemberMetadata(name, name, "", "", 0, 600_000) for name in "ij"]
    value = GroupMetadataValue("consumer", 1, "range", "i", 0, members)
    classic = Classic([GroupRecord(GroupMetadataKey(GROUP), value)])
    classic.leave("j")

    for _ in range(10):
        classic.now = classic.context.timers.next_deadline()
        classic.expire_one()

    assert classic.group().state == ClassicState.PREPARING_REBALANCE
    assert classic.now >= 9_000
