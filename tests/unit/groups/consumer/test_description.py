"""What ConsumerGroupDescribe shows."""

from __future__ import annotations

from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from groups.consumers import GROUP, Catalogue, Consumer, Coordinator, settle


def describe(coordinator: Coordinator):
    return coordinator.ask(ConsumerGroupDescribeRequest([GROUP]))


def test_a_group_is_shown_with_its_epochs_and_members():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t", assignor="range"), Consumer(coordinator, "b", "t", instance_id="i")
    settle(a, b)

    group = describe(coordinator)

    assert (group.error_code, group.group_id, group.group_state) == (0, GROUP, "Stable")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (3, 3, "range")
    first, second = group.members
    assert (first.member_id, first.member_epoch, first.member_type) == ("a", 3, 1)
    assert (first.client_id, first.client_host, first.subscribed_topic_names) == ("c", "/127.0.0.1", ["t"])
    assert second.instance_id == "i"
    assert first.assignment == first.target_assignment
    (assigned,) = first.assignment.topic_partitions
    assert (assigned.topic_name, assigned.topic_id) == ("t", coordinator.topics.id("t"))
    assert assigned.partitions == [2, 3]  # a static member stands before it


def test_what_a_member_is_giving_up_is_still_shown_as_its_own():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    a.beat()

    group = describe(coordinator)

    assert group.group_state == "Reconciling"
    assert group.members[0].assignment.topic_partitions[0].partitions == [0, 1, 2, 3]
    assert group.members[0].target_assignment.topic_partitions[0].partitions == [0, 1]
    assert group.members[1].assignment.topic_partitions == []


def test_a_topic_that_is_gone_is_left_out():
    coordinator = Coordinator(Catalogue(t=1, u=1))
    settle(Consumer(coordinator, "a", "t", "u"))

    coordinator.topics.remove("u")

    (member,) = describe(coordinator).members
    assert [topic.topic_name for topic in member.assignment.topic_partitions] == ["t"]


def test_a_group_that_nobody_chooses_for_has_the_first_assignor():
    coordinator = Coordinator()
    settle(Consumer(coordinator, "a", "t"))

    assert describe(coordinator).assignor_name == "uniform"
