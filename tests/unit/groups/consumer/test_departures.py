"""Members go: what is left of them, and of the group."""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.consumer.group import EMPTY
from andiron.groups.consumer.member import AWAY
from andiron.model.errors import ErrorCode
from groups.consumers import GROUP, SESSION_MS, Consumer, Coordinator, OldConsumer, settle


def test_a_member_that_leaves_is_removed_with_all_its_records():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")
    a.beat()

    response = a.leave()

    assert (response.error_code, response.member_id, response.member_epoch) == (0, "a", -1)
    assert coordinator.kinds == [
        "-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata",
    ]  # fmt: skip
    assert (coordinator.group.state, coordinator.group.owners) == (EMPTY, {})


def test_partitions_of_a_member_that_left_go_to_others_with_their_heartbeats():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    settle(a, b)

    a.leave()
    b.beat()

    assert b.partitions() == [0, 1, 2, 3]


def test_a_static_member_that_leaves_temporarily_keeps_its_partitions():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", instance_id="i")
    a.beat()

    response = a.leave(AWAY)

    assert (response.member_id, response.member_epoch) == ("a", AWAY)
    assert coordinator.kinds == ["CurrentMemberAssignment"]
    member = coordinator.group.members["a"]
    assert member.epoch == AWAY
    assert member.assigned == {coordinator.topics.id("t"): dict.fromkeys(range(4), 0)}


def test_partitions_that_a_static_member_was_revoking_are_free_when_it_leaves():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t", instance_id="i"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    a.slow = True
    a.beat()

    a.leave(AWAY)
    b.beat()

    assert b.partitions() == [2, 3]


def test_a_static_member_that_does_not_come_back_is_removed_with_its_session():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", instance_id="i")
    a.beat()
    a.leave(AWAY)

    coordinator.pass_time(SESSION_MS)

    assert coordinator.group.state == EMPTY


def mixed(**settings) -> tuple[Coordinator, Consumer, OldConsumer]:
    coordinator = Coordinator(**settings)
    new, old = Consumer(coordinator, "n", "t"), OldConsumer(coordinator, "t")
    settle(new)
    old.join()
    old.sync()
    settle(new)
    old.rejoin()
    return coordinator, new, old


def test_when_the_last_one_goes_that_speaks_the_new_protocol_the_group_is_a_classic_one():
    coordinator, new, old = mixed()

    new.leave()

    group = coordinator.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert coordinator.kinds[-1] == "GroupMetadata"
    assert all(kind.startswith("-") for kind in coordinator.kinds[:-1])
    assert (group.generation, group.state, list(group.members)) == (3, "PreparingRebalance", [old.id])
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    old.sync(t=[0, 1, 2, 3])
    assert old.beat() is ErrorCode.NONE


def test_a_group_is_downgraded_also_by_a_session_timeout_and_after_a_failover():
    coordinator, _, old = mixed()

    for _ in range(9):
        coordinator.pass_time(5_000)
        old.beat()
    assert isinstance(coordinator.groups[GROUP], ClassicGroup)
    coordinator.reload()

    assert coordinator.groups[GROUP].state == "Stable"
    old.rejoin()
    assert old.id in coordinator.groups[GROUP].members


def test_a_group_is_not_downgraded_against_the_policy_or_beyond_group_max_size():
    for settings in ({"group_consumer_migration_policy": "upgrade"}, {"group_max_size": 1}):
        coordinator, new, old = mixed(**settings)
        if "group_max_size" in settings:
            other = OldConsumer(coordinator, "t")
            other.join()

        new.leave()

        assert coordinator.groups[GROUP].kind == "consumer"
        old.rejoin()
        assert old.beat() is ErrorCode.NONE
