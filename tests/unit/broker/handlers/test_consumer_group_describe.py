"""State and members of groups that assign on the broker."""

from andiron.broker.handlers import consumer_group_describe
from andiron.broker.node.operations import ON_GROUPS
from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from worlds.coordinating import (
    GROUP,
    TOPIC,
    commit,
    consumer_heartbeat,
    crash,
    every_version,
    joined,
)
from worlds.node import SmallNode, error_of

UNASKED = -(1 << 31)
CONSUMER, UNTOLD = 1, -1


def describe(node, version, *groups, operations=False):
    return node.ask(ConsumerGroupDescribeRequest(list(groups), operations), version).groups


@every_version(consumer_group_describe)
def test_a_group_is_described_with_its_members(coordinator, version):
    epoch = coordinator.ask(consumer_heartbeat()).member_epoch

    [group] = describe(coordinator, version, GROUP)

    assert (error_of(group), group.group_id, group.group_state) == ("NONE", GROUP, "Stable")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (epoch, epoch, "uniform")
    [member] = group.members
    assert (member.member_id, member.member_epoch, member.subscribed_topic_names) == ("m", epoch, [TOPIC])
    assert [(each.topic_name, each.partitions) for each in member.assignment.topic_partitions] == [
        (TOPIC, [0, 1, 2])
    ]
    assert member.member_type == (CONSUMER if version >= 1 else UNTOLD)


@every_version(consumer_group_describe)
def test_it_is_the_same_after_a_crash(coordinator, version):
    coordinator.ask(consumer_heartbeat())
    before = describe(coordinator, version, GROUP)

    crash(coordinator)
    [loading] = describe(coordinator, version, GROUP)
    coordinator.settle()

    assert (error_of(loading), loading.group_id) == ("COORDINATOR_LOAD_IN_PROGRESS", GROUP)
    assert describe(coordinator, version, GROUP) == before


@every_version(consumer_group_describe)
def test_every_group_that_is_asked_for_has_its_entry(coordinator, version):
    joined(coordinator, group="classic")
    commit(coordinator, 5, group="offsets")
    coordinator.ask(consumer_heartbeat())

    found = describe(coordinator, version, "classic", "", GROUP, "offsets", "none")

    assert [(group.group_id, error_of(group)) for group in found] == [
        ("classic", "GROUP_ID_NOT_FOUND"),
        ("", "INVALID_GROUP_ID"),
        (GROUP, "NONE"),
        ("offsets", "GROUP_ID_NOT_FOUND"),
        ("none", "GROUP_ID_NOT_FOUND"),
    ]
    assert all(group.error_message for group in found if group.error_code)


@every_version(consumer_group_describe)
def test_what_one_may_do_is_told_if_asked_for_and_if_there_is_a_group(coordinator, version):
    coordinator.ask(consumer_heartbeat())

    told = [
        each.authorized_operations for each in describe(coordinator, version, GROUP, "no", operations=True)
    ]
    unasked = [each.authorized_operations for each in describe(coordinator, version, GROUP)]

    assert (told, unasked) == ([ON_GROUPS, UNASKED], [UNASKED])


@every_version(consumer_group_describe)
def test_where_there_is_no_coordinator(version):
    [group] = describe(SmallNode(), version, GROUP)

    assert (error_of(group), group.group_id) == ("NOT_COORDINATOR", GROUP)
