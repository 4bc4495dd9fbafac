"""Members say that they are there, and hear when they must join again."""

import pytest

from andiron.broker.handlers import heartbeat
from worlds.coordinating import (
    GROUP,
    SESSION_MS,
    Member,
    crash,
    every_version,
    heartbeat_request,
    joined,
    recover,
    send_join,
)
from worlds.node import SmallNode, error_of


def beat(node, member, version=4, **how):
    return error_of(node.ask(heartbeat_request(member, **how), version))


@every_version(heartbeat)
def test_a_member_that_is_heard_from_stays(coordinator, version):
    member = joined(coordinator)

    for _ in range(3):
        coordinator.advance(SESSION_MS - 1)
        assert beat(coordinator, member, version) == "NONE"


@every_version(heartbeat)
def test_one_that_is_not_heard_from_is_out(coordinator, version):
    member = joined(coordinator)

    coordinator.advance(SESSION_MS)

    assert beat(coordinator, member, version) == "UNKNOWN_MEMBER_ID"


@every_version(heartbeat)
def test_members_hear_that_others_have_come(coordinator, version):
    member = joined(coordinator)
    send_join(coordinator)

    assert beat(coordinator, member, version) == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize(
    ("who", "group", "code"),
    [
        (Member("who?", 1), GROUP, "UNKNOWN_MEMBER_ID"),
        (Member("m", 1), "none", "UNKNOWN_MEMBER_ID"),
        (Member("m", 1), "", "INVALID_GROUP_ID"),
    ],
)
@every_version(heartbeat)
def test_whoever_is_not_a_member_is_told_so(coordinator, version, who, group, code):
    joined(coordinator)

    assert beat(coordinator, who, version, group=group) == code


@every_version(heartbeat)
def test_a_member_of_another_generation(coordinator, version):
    member = joined(coordinator)

    assert beat(coordinator, Member(member.id, 9), version) == "ILLEGAL_GENERATION"


@every_version(heartbeat, since=3)
def test_a_static_member_is_asked_for_the_id_that_it_has_now(coordinator, version):
    member = joined(coordinator, instance="i")

    assert beat(coordinator, member, version, instance="i") == "NONE"
    assert beat(coordinator, Member("old", 1), version, instance="i") == "FENCED_INSTANCE_ID"


@every_version(heartbeat)
def test_while_the_group_is_loaded_nobody_is_missed(coordinator, version):
    member = joined(coordinator)

    crash(coordinator)

    assert beat(coordinator, member, version) == "NONE"
    assert beat(coordinator, Member("who?", 1), version) == "NONE"


@every_version(heartbeat)
def test_a_group_that_was_loaded_is_as_it_was(coordinator, version):
    member = joined(coordinator)

    recover(coordinator)

    assert beat(coordinator, member, version) == "NONE"
    assert beat(coordinator, Member("who?", 1), version) == "UNKNOWN_MEMBER_ID"


@every_version(heartbeat)
def test_where_there_is_no_coordinator(version):
    assert beat(SmallNode(), Member("m", 1), version) == "NOT_COORDINATOR"
