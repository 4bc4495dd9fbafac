"""State and members of classic groups."""

import pytest

from andiron.broker.handlers import describe_groups
from andiron.broker.node.operations import ON_GROUPS
from andiron.wire.messages.describe_groups import DescribeGroupsRequest
from worlds.coordinating import (
    GROUP,
    commit,
    consumer_heartbeat,
    crash,
    every_version,
    joined,
    loading,
    recover,
    send_join,
)
from worlds.node import SmallNode, error_of

OPERATIONS_SINCE, STATIC_SINCE, NOT_FOUND_SINCE = 3, 4, 6
UNASKED = -(1 << 31)


def describe(node, version, *groups, operations=False):
    return node.ask(DescribeGroupsRequest(list(groups), operations), version).groups


@every_version(describe_groups)
def test_a_group_is_described_with_its_members(coordinator, version):
    member = joined(coordinator, metadata=b"wishes", assignment=b"share", instance="i")

    [group] = describe(coordinator, version, GROUP)

    assert (error_of(group), group.group_id, group.group_state) == ("NONE", GROUP, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    [found] = group.members
    assert (found.member_id, found.member_metadata, found.member_assignment) == (
        member.id,
        b"wishes",
        b"share",
    )
    assert found.group_instance_id == ("i" if version >= STATIC_SINCE else None)


@every_version(describe_groups)
def test_it_is_the_same_after_a_crash(coordinator, version):
    joined(coordinator, metadata=b"wishes", assignment=b"share")
    before = describe(coordinator, version, GROUP)

    recover(coordinator)

    assert describe(coordinator, version, GROUP) == before


@every_version(describe_groups)
def test_a_group_that_is_not_there_is_dead(coordinator, version):
    [group] = describe(coordinator, version, "none")

    assert (group.group_id, group.group_state, group.members) == ("none", "Dead", [])
    if version >= NOT_FOUND_SINCE:
        assert error_of(group) == "GROUP_ID_NOT_FOUND" and "none" in group.error_message
    else:
        assert error_of(group) == "NONE"


@every_version(describe_groups)
def test_a_group_of_offsets_alone_is_empty(coordinator, version):
    commit(coordinator, 5)
    commit(coordinator, 5, group="")

    found = describe(coordinator, version, GROUP, "")

    assert [(error_of(group), group.group_state) for group in found] == [("NONE", "Empty")] * 2


@every_version(describe_groups)
def test_a_group_that_the_broker_assigns_to_is_not_one_of_these(coordinator, version):
    coordinator.ask(consumer_heartbeat())

    [group] = describe(coordinator, version, GROUP)

    assert group.group_state == "Dead"


@every_version(describe_groups)
def test_several_are_told_each_by_itself(coordinator, version):
    joined(coordinator, group="a")
    send_join(coordinator, group="b")

    found = describe(coordinator, version, "b", "none", "a")

    assert [(group.group_id, group.group_state) for group in found] == [
        ("b", "PreparingRebalance"), ("none", "Dead"), ("a", "Stable"),
    ]  # fmt: skip


@every_version(describe_groups, since=OPERATIONS_SINCE)
def test_what_one_may_do_is_told_if_asked_for_and_if_the_group_can_be_told_of(coordinator, version):
    def operations(asked):
        return describe(coordinator, version, GROUP, operations=asked)[0].authorized_operations

    joined(coordinator)
    assert (operations(True), operations(False)) == (ON_GROUPS, UNASKED)

    crash(coordinator)

    assert operations(True) == UNASKED


@every_version(describe_groups)
def test_while_it_is_loaded_its_entry_says_so(coordinator, version):
    loading(coordinator)

    [group] = describe(coordinator, version, GROUP)

    assert (error_of(group), group.group_id) == ("COORDINATOR_LOAD_IN_PROGRESS", GROUP)


@pytest.mark.parametrize("groups", [(), (GROUP,)])
@every_version(describe_groups)
def test_where_there_is_no_coordinator(version, groups):
    found = describe(SmallNode(), version, *groups)

    assert [error_of(group) for group in found] == ["NOT_COORDINATOR"] * len(groups)
