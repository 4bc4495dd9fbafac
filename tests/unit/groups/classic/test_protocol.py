"""Requests to classic groups, and groups that are loaded from the log."""

from __future__ import annotations

import pytest

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.protocol import ClassicProtocol
from andiron.groups.classic.states import ClassicState
from andiron.groups.group import TimerKey
from andiron.groups.records import GroupMetadataKey, GroupMetadataValue, GroupRecord, MemberMetadata
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Millis
from andiron.model.machine import Promise
from andiron.wire.messages.describe_groups import DescribedGroup
from andiron.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from groups.classic import DELAY_MS, GROUP, SESSION_MS, Classic, answer, context_of, error_of, refusal

UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def completing(count: int) -> tuple[Classic, list[str]]:
    classic = Classic()
    for _ in range(count):
        classic.arrive()
    classic.pass_time(2 * DELAY_MS)
    return classic, list(classic.group().members)


def leave(
    classic: Classic, version: int, *members: MemberIdentity, member_id: str = ""
) -> LeaveGroupResponse:
    return classic.ask(classic.protocol.leave, LeaveGroupRequest(GROUP, member_id, list(members)), version)


# ── SyncGroup ────────────────────────────────────────────────────────────────────────


def test_a_follower_waits_for_the_leader_and_later_ones_do_not():
    classic, (leader, second, third) = completing(3)

    waiting = classic.sync(second, 1)
    assert isinstance(waiting, Promise)
    classic.sync(leader, 1, {second: b"2", third: b"3"})

    assert answer(waiting).assignment == b"2"
    assert classic.sync(third, 1).assignment == b"3"
    assert classic.sync(third, 1).assignment == b"3", "as often as it asks"


def test_sync_is_refused_to_those_who_are_not_in_this_generation():
    classic, (member, _) = completing(2)

    assert refusal(lambda: classic.sync("x", 1)) is UNKNOWN
    assert refusal(lambda: classic.sync(member, 1, instance="i")) is UNKNOWN
    assert refusal(lambda: classic.sync(member, 0)) is ErrorCode.ILLEGAL_GENERATION
    assert refusal(lambda: classic.sync(member, 2)) is ErrorCode.ILLEGAL_GENERATION
    assert refusal(lambda: classic.sync(member, 1, group="other")) is UNKNOWN
    assert refusal(lambda: classic.sync(member, 1, group="")) is ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize(
    ("version", "protocol_type", "protocol", "code"),
    [
        (5, "connect", "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (5, "consumer", "robin", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (5, None, "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (5, "consumer", None, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (4, None, None, ErrorCode.NONE),
        (5, "consumer", "range", ErrorCode.NONE),
    ],
)
def test_since_version_5_a_member_that_syncs_says_for_which_protocol(version, protocol_type, protocol, code):
    classic, (leader,) = completing(1)

    said = {"version": version, "protocol_type": protocol_type, "protocol": protocol}

    assert refusal(lambda: classic.sync(leader, 1, **said)) is code


def test_a_sync_sent_twice_is_answered_twice():
    classic, (leader, follower) = completing(2)
    before = classic.sync(follower, 1)
    again = classic.sync(follower, 1)
    classic.sync(leader, 1, {follower: b"2"})

    assert error_of(answer(before)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert answer(again).assignment == b"2"


# ── Heartbeat ────────────────────────────────────────────────────────────────────────


def test_a_heartbeat_is_well_unless_the_member_must_join_again():
    classic, (leader, follower) = completing(2)

    assert classic.heartbeat(follower, 1) is ErrorCode.NONE
    classic.sync_all()
    assert classic.heartbeat(follower, 1) is ErrorCode.NONE
    classic.join(leader)
    assert classic.heartbeat(follower, 1) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_heartbeat_keeps_the_session_also_of_one_who_must_join_again():
    classic = Classic()
    leader, follower = classic.stable(2)
    classic.join(leader)

    for _ in range(3):
        classic.pass_time(SESSION_MS - 1)
        assert classic.heartbeat(follower, 1) is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_heartbeat_is_refused_to_those_who_are_not_in_this_generation():
    classic = Classic()
    (member,) = classic.stable(1)
    pending = classic.join().member_id

    assert refusal(lambda: classic.heartbeat("x", 1)) is UNKNOWN
    assert refusal(lambda: classic.heartbeat(pending, 1)) is UNKNOWN
    assert refusal(lambda: classic.heartbeat(member, 1, instance="i")) is UNKNOWN
    assert refusal(lambda: classic.heartbeat(member, 2)) is ErrorCode.ILLEGAL_GENERATION
    assert refusal(lambda: classic.heartbeat(member, 1, group="other")) is UNKNOWN
    assert refusal(lambda: classic.heartbeat(member, 1, group="")) is ErrorCode.INVALID_GROUP_ID


# ── LeaveGroup ───────────────────────────────────────────────────────────────────────


def test_members_leave_together_and_each_is_answered_by_itself():
    classic = Classic()
    first, second, third = classic.stable(3)

    assert classic.leave(first, "x", second, first) == [ErrorCode.NONE, UNKNOWN, ErrorCode.NONE, UNKNOWN]
    assert list(classic.group().members) == [third]
    assert classic.group().state == ClassicState.PREPARING_REBALANCE


def test_a_static_member_is_sent_away_by_its_instance():
    classic = Classic()
    (member,) = classic.stable(1, instance="i")
    other = MemberIdentity("x", "i")

    assert leave(classic, 3, MemberIdentity("", "j"), other, MemberIdentity("", None)).members == [
        MemberResponse("", "j", UNKNOWN.number),
        MemberResponse("x", "i", ErrorCode.FENCED_INSTANCE_ID.number),
        MemberResponse("", None, UNKNOWN.number),
    ]
    assert member in classic.group().members
    assert leave(classic, 3, MemberIdentity("", "i")).members == [MemberResponse("", "i", 0)]
    assert not classic.group().members


def test_before_version_3_one_member_leaves():
    classic = Classic()
    (member,) = classic.stable(1)

    assert leave(classic, 2, member_id="x") == LeaveGroupResponse(0, UNKNOWN.number, [])
    assert leave(classic, 0, member_id=member) == LeaveGroupResponse(0, 0, [])
    assert classic.group().state == ClassicState.EMPTY


def test_nobody_leaves_a_group_that_is_not_there():
    classic = Classic()

    assert classic.leave("x", "y") == [UNKNOWN, UNKNOWN]
    assert refusal(lambda: classic.leave("x", group="")) is ErrorCode.INVALID_GROUP_ID


def test_one_who_was_given_an_id_gives_it_back_and_nobody_rebalances():
    classic = Classic()
    classic.stable(1)
    pending = classic.join().member_id

    assert classic.leave(pending) == [ErrorCode.NONE]
    assert classic.group().state == ClassicState.STABLE
    assert not classic.group().pending


def test_nobody_waits_any_longer_for_one_who_gives_its_id_back():
    classic = Classic()
    first, second = classic.stable(2)
    pending = classic.join().member_id
    waiting = [classic.join(first), classic.join(second)]

    classic.leave(pending)

    assert [answer(each).generation_id for each in waiting] == [2, 2]


# ── DescribeGroups ───────────────────────────────────────────────────────────────────


def test_a_group_is_described():
    classic = Classic()
    classic.stable(2)

    group = classic.protocol.describe(GROUP, 6)

    assert (group.error_code, group.group_state, group.protocol_data, len(group.members)) == (
        0,
        ClassicState.STABLE,
        "range",
        2,
    )


def test_a_group_that_is_not_there_is_dead():
    protocol = Classic().protocol

    assert protocol.describe("x", 5) == DescribedGroup(group_id="x", group_state="Dead")
    missing = protocol.describe("x", 6)
    assert (missing.error_code, missing.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND.number, "Dead")
    assert missing.error_message


# ── the log ──────────────────────────────────────────────────────────────────────────


def test_a_group_that_is_loaded_goes_on():
    classic = Classic()
    first, second = classic.stable(2)

    again = classic.made_again()

    assert again.heartbeat(first, 1) is ErrorCode.NONE
    assert again.sync(second, 1).assignment == second.encode()
    assert again.group().state == ClassicState.STABLE


def test_sessions_begin_when_the_log_has_been_read():
    classic = Classic()
    first, _ = classic.stable(2)
    world = context_of()
    protocol = ClassicProtocol(world)

    for record in classic.log:
        protocol.replay(record)
    assert world.timers.next_deadline() == NEVER
    protocol.loaded(Millis(500))

    assert world.timers.next_deadline() == 500 + SESSION_MS
    assert TimerKey("classic-session", GROUP, first) in world.timers


def test_the_latest_record_of_a_group_counts():
    def record(generation: int, *members: str) -> GroupRecord:
        named = [MemberMetadata(each, None, "", "", 1, 1) for each in members]
        return GroupRecord(GroupMetadataKey("g"), GroupMetadataValue("t", generation, "p", None, 0, named))

    group = Classic([record(1, "a", "b"), record(2, "b", "c")]).group()

    assert (group.generation, list(group.members)) == (2, ["b", "c"])


def test_a_group_that_was_deleted_is_not_there():
    classic = Classic()
    (member,) = classic.stable(1)
    classic.leave(member)
    pending = classic.join().member_id
    group = classic.group()

    (tombstone,) = group.tombstones()
    classic.protocol.replay(tombstone)

    assert not classic.context.groups
    assert group.state == ClassicState.DEAD
    assert len(classic.context.timers) == 0
    assert refusal(lambda: classic.join(pending)) is UNKNOWN
    assert not Classic([*classic.log, tombstone]).context.groups


def test_what_a_deleted_group_waited_for_is_not_waited_for():
    classic = Classic()

    assert classic.protocol.expired(TimerKey("classic-join", "gone"), Millis(0)).records == []


def test_a_group_that_is_too_large_when_it_is_loaded_rebalances():
    classic = Classic()
    classic.stable(3)

    assert Classic(classic.log, group_max_size=3).group().state == ClassicState.STABLE
    smaller = Classic(classic.log, group_max_size=2)

    assert smaller.group().state == ClassicState.PREPARING_REBALANCE
    assert TimerKey("classic-join", GROUP) in smaller.context.timers


# ── groups that change their protocol ────────────────────────────────────────────────


def test_a_group_that_is_given_up_answers_those_who_wait():
    classic, (_, follower) = completing(2)
    waiting = classic.sync(follower, 1)
    classic.join()

    assert classic.protocol.give_up(classic.group()) == [waiting]

    assert error_of(answer(waiting)) is ErrorCode.REBALANCE_IN_PROGRESS
    assert not classic.context.groups
    assert len(classic.context.timers) == 0


@pytest.mark.parametrize("rebalance", [False, True])
def test_a_group_that_is_taken_over_is_written_as_it_comes(rebalance):
    classic = Classic()
    group = ClassicGroup(GROUP, classic.context.timers, None)
    group.generation = 7
    group.add(ClassicMember("a", None, "", "", 60_000, 10_000, {"range": b""}, b"1"), "consumer")

    record = classic.protocol.take_over(group, Millis(5), rebalance=rebalance)
    classic.protocol.replay(record)

    assert (record.value.generation, record.value.leader, record.value.protocol) == (7, "a", "range")
    assert [each.assignment for each in record.value.members] == [b"1"]
    assert classic.group() is group
    assert group.state == (ClassicState.PREPARING_REBALANCE if rebalance else ClassicState.STABLE)
    expected = ErrorCode.REBALANCE_IN_PROGRESS if rebalance else ErrorCode.NONE
    assert classic.heartbeat("a", 7) is expected


def test_members_that_do_not_sync_are_removed_with_their_session():
    classic, members = completing(2)
    assert classic.group().state == ClassicState.COMPLETING_REBALANCE

    classic.pass_time(SESSION_MS)

    assert not set(members) & set(classic.group().members)
