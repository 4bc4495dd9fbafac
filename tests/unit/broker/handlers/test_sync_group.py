"""The leader hands in the assignment, and every member gets its part."""

import pytest

from andiron.broker.handlers import sync_group
from andiron.wire.messages.sync_group import SyncGroupRequest
from worlds.coordinating import (
    DURABLY,
    GROUP,
    Member,
    coordinating,
    crash,
    every_version,
    joined,
    send_join,
    sync_request,
)
from worlds.node import error_of


def two_members(node):
    """The leader and the other of a generation that has nothing assigned yet."""
    tickets = [send_join(node) for _ in range(2)]
    node.settle()
    return [Member(node.answer(each).member_id, node.answer(each).generation_id) for each in tickets]


@every_version(sync_group)
def test_followers_wait_for_the_leader_and_each_gets_its_part(coordinator, version):
    leader, other = two_members(coordinator)
    waiting = coordinator.send(sync_request(other), version)
    assert coordinator.answer(waiting) is None

    answer = coordinator.ask(sync_request(leader, {leader.id: b"first", other.id: b"second"}), version)

    told = coordinator.answer(waiting)
    assert (error_of(answer), answer.assignment) == ("NONE", b"first")
    assert (error_of(told), told.assignment) == ("NONE", b"second")
    named = ("consumer", "range") if version >= 5 else (None, None)
    assert (told.protocol_type, told.protocol_name) == named


@pytest.mark.parametrize("clean", [True, False])
def test_whoever_asks_again_gets_the_same_after_a_restart_too(coordinator, clean):
    member = joined(coordinator, assignment=b"all")

    coordinator.restart(clean)
    coordinator.settle()

    assert coordinator.ask(sync_request(member)).assignment == b"all"


def test_all_answers_wait_until_the_assignment_is_on_the_disk():
    node = coordinating(**DURABLY)
    leader, other = two_members(node)
    node.flush_at_once = False
    tickets = [
        node.send(sync_request(other)),
        node.send(sync_request(leader, {leader.id: b"first", other.id: b"second"})),
    ]
    assert [node.answer(ticket) for ticket in tickets] == [None, None]

    node.do_flushes()

    assert [node.answer(ticket).assignment for ticket in tickets] == [b"second", b"first"]


@pytest.mark.parametrize(
    ("who", "group", "code"),
    [
        (Member("who?", 1), GROUP, "UNKNOWN_MEMBER_ID"),
        (Member("", 1), GROUP, "UNKNOWN_MEMBER_ID"),
        (Member("m", 1), "", "INVALID_GROUP_ID"),
        (Member("m", 1), "none", "UNKNOWN_MEMBER_ID"),
    ],
)
@every_version(sync_group)
def test_a_refusal_has_no_assignment(coordinator, version, who, group, code):
    joined(coordinator)

    answer = coordinator.ask(sync_request(who, group=group), version)

    assert (error_of(answer), answer.assignment) == (code, b"")


@every_version(sync_group)
def test_a_sync_of_another_generation_is_refused(coordinator, version):
    member = joined(coordinator)

    answer = coordinator.ask(sync_request(Member(member.id, 7)), version)

    assert error_of(answer) == "ILLEGAL_GENERATION"


@pytest.mark.parametrize("group", [GROUP, ""])
def test_version_5_must_name_the_protocol_before_anything_else_is_looked_at(coordinator, group):
    request = SyncGroupRequest(group, 1, "m")

    assert error_of(coordinator.ask(request, 5)) == "INCONSISTENT_GROUP_PROTOCOL"
    assert error_of(coordinator.ask(request, 4)) == ("UNKNOWN_MEMBER_ID" if group else "INVALID_GROUP_ID")


@every_version(sync_group)
def test_while_the_group_is_loaded_members_are_told_to_come_again(coordinator, version):
    member = joined(coordinator)
    crash(coordinator)

    answer = coordinator.ask(sync_request(member), version)

    assert error_of(answer) == "COORDINATOR_LOAD_IN_PROGRESS"
    coordinator.settle()
    assert error_of(coordinator.ask(sync_request(member), version)) == "NONE"
