"""Members leave, one or several at once."""

import pytest

from andiron.broker.handlers import leave_group
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from worlds.coordinating import (
    GROUP,
    every_version,
    heartbeat_request,
    joined,
    loading,
    names_of,
    recover,
    send_join,
)
from worlds.node import error_of

SEVERAL_SINCE = 3


def leave_request(*members, group=GROUP):
    named = [MemberIdentity(*each) if isinstance(each, tuple) else MemberIdentity(each) for each in members]
    return LeaveGroupRequest(group, named[0].member_id, named)


def errors_of(answer, version):
    """The error of each member, in the place that the version has for it."""
    if version < SEVERAL_SINCE:
        assert answer.members == []
        return [error_of(answer)]
    assert error_of(answer) == "NONE"
    return names_of(each.error_code for each in answer.members)


@every_version(leave_group)
def test_a_member_that_leaves_is_out_at_once(coordinator, version):
    member = joined(coordinator)

    answer = coordinator.ask(leave_request(member.id), version)

    assert errors_of(answer, version) == ["NONE"]
    assert error_of(coordinator.ask(heartbeat_request(member))) == "UNKNOWN_MEMBER_ID"


@every_version(leave_group)
def test_a_rebalance_does_not_wait_for_a_member_that_left(coordinator, version):
    member = joined(coordinator)
    waiting = send_join(coordinator)

    coordinator.ask(leave_request(member.id), version)
    coordinator.settle()

    assert coordinator.answer(waiting).generation_id == 2


@every_version(leave_group)
def test_a_leave_of_an_unknown_member_is_refused(coordinator, version):
    joined(coordinator)

    answer = coordinator.ask(leave_request("who?"), version)

    assert errors_of(answer, version) == ["UNKNOWN_MEMBER_ID"]


@every_version(leave_group)
def test_a_group_that_is_not_there_has_no_members(coordinator, version):
    answer = coordinator.ask(leave_request("m", group="none"), version)

    assert errors_of(answer, version) == ["UNKNOWN_MEMBER_ID"]


@every_version(leave_group, since=SEVERAL_SINCE)
def test_several_are_answered_each_for_itself_and_static_ones_go_by_their_name(coordinator, version):
    joined(coordinator, instance="i")

    answer = coordinator.ask(leave_request(("", "i"), ("who?",), ("", "j")), version)

    assert errors_of(answer, version) == ["NONE", "UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"]
    assert [each.group_instance_id for each in answer.members] == ["i", None, "j"]


@pytest.mark.parametrize(
    ("group", "code"), [("", "INVALID_GROUP_ID"), (GROUP, "COORDINATOR_LOAD_IN_PROGRESS")]
)
@every_version(leave_group)
def test_a_refusal_of_all_is_at_the_top(coordinator, version, group, code):
    loading(coordinator)

    answer = coordinator.ask(leave_request("m", group=group), version)

    assert (error_of(answer), answer.members) == (code, [])


@every_version(leave_group)
def test_that_a_member_has_left_is_known_after_a_crash(coordinator, version):
    member = joined(coordinator)
    coordinator.ask(leave_request(member.id), version)

    recover(coordinator)

    assert error_of(coordinator.ask(heartbeat_request(member))) == "UNKNOWN_MEMBER_ID"
