"""A group whose members speak both protocols."""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.consumer.group import STABLE
from andiron.model.errors import ErrorCode
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from andiron.wire.messages.sync_group import SyncGroupRequest
from groups.consumers import (
    GROUP,
    INTERVAL_MS,
    REBALANCE_MS,
    Catalogue,
    Consumer,
    Coordinator,
    OldConsumer,
    settle,
)


def mixed(eager: bool = False) -> tuple[Coordinator, Consumer, OldConsumer]:
    """A group at rest, with a member of each kind."""
    coordinator = Coordinator()
    new, old = Consumer(coordinator, "n", "t"), OldConsumer(coordinator, "t", eager=eager)
    settle(new)
    old.join()
    old.sync()
    settle(new)
    old.rejoin()
    return coordinator, new, old


def test_classic_and_consumer_members_both_get_partitions():
    coordinator, new, old = mixed()

    assert sorted([*new.partitions(), *old.owned["t"]]) == [0, 1, 2, 3]
    assert coordinator.group.state == STABLE
    assert old.beat() is ErrorCode.NONE


def test_a_classic_member_is_told_to_join_by_a_new_target_and_by_a_free_partition():
    coordinator, new, old = mixed()
    third = Consumer(coordinator, "o", "t")
    third.beat()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert old.sync().error_code == ErrorCode.REBALANCE_IN_PROGRESS.number
    old.rejoin()
    settle(new, third)

    assert old.beat() is ErrorCode.NONE
    new.leave()
    third.beat()
    old.rejoin()
    assert sorted([*third.partitions(), *old.owned["t"]]) == [0, 1, 2, 3]


def test_a_cooperative_member_joins_again_after_it_revoked():
    coordinator, new, old = mixed()
    coordinator.topics.put("t", 8)
    settle(new)
    old.rejoin()
    assert len(old.owned["t"]) == 4

    third = Consumer(coordinator, "o", "t")
    third.beat()
    old.join()
    assert old.sync().error_code == 0
    assert coordinator.group.members[old.id].revoking
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()

    assert not coordinator.group.members[old.id].revoking
    assert coordinator.group.members[old.id].epoch == coordinator.group.epoch


def test_an_eager_member_revokes_by_joining():
    coordinator, _, old = mixed(eager=True)
    third = Consumer(coordinator, "o", "t")
    third.beat()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    old.sync()

    assert coordinator.group.members[old.id].epoch == coordinator.group.epoch
    assert old.beat() is ErrorCode.NONE


def test_requests_that_do_not_fit_are_refused():
    coordinator, new, old = mixed()

    def beat(member_id: str, generation: int, instance_id: str | None = None) -> ErrorCode:
        return coordinator.refusal(HeartbeatRequest(GROUP, generation, member_id, instance_id), 4)

    def sync(**fields: object) -> ErrorCode:
        request = SyncGroupRequest(GROUP, old.generation, old.id, None, "consumer", "range")
        for name, value in fields.items():
            setattr(request, name, value)
        return coordinator.refusal(request, 5)

    assert beat(old.id, old.generation - 1) is ErrorCode.ILLEGAL_GENERATION
    assert beat("x", old.generation) is ErrorCode.UNKNOWN_MEMBER_ID
    assert beat("n", new.epoch) is ErrorCode.UNKNOWN_MEMBER_ID
    assert beat(old.id, old.generation, "i") is ErrorCode.UNKNOWN_MEMBER_ID
    assert sync() is ErrorCode.NONE
    assert sync(generation_id=99) is ErrorCode.ILLEGAL_GENERATION
    assert sync(protocol_name="robin") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert sync(protocol_type="connect") is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert sync(protocol_name=None) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_members_of_either_kind_may_be_taken_out():
    coordinator, _, old = mixed()
    static = Consumer(coordinator, "s", "t", instance_id="i")
    static.beat()
    leaving = [MemberIdentity("x"), MemberIdentity("", "i"), MemberIdentity("", "j"), MemberIdentity(old.id)]

    response = coordinator.ask(LeaveGroupRequest(GROUP, "", leaving), 5)

    unknown = ErrorCode.UNKNOWN_MEMBER_ID.number
    assert [member.error_code for member in response.members] == [unknown, 0, unknown, 0]
    assert list(coordinator.group.members) == ["n"]


def test_before_version_3_one_leaves_at_a_time():
    coordinator, _, old = mixed()

    assert coordinator.ask(LeaveGroupRequest(GROUP, old.id), 2).error_code == 0
    response = coordinator.ask(LeaveGroupRequest(GROUP, old.id), 2)

    assert (response.error_code, response.members) == (ErrorCode.UNKNOWN_MEMBER_ID.number, [])
    assert list(coordinator.group.members) == ["n"]


def pass_time(
    coordinator: Coordinator, duration_ms: int, new: Consumer, old: OldConsumer | None = None
) -> None:
    for _ in range(0, duration_ms, INTERVAL_MS):
        coordinator.pass_time(INTERVAL_MS)
        new.beat()
        if old is not None:
            old.beat()


def test_a_silent_classic_member_is_removed_after_its_own_session_timeout():
    coordinator, new, old = mixed()

    pass_time(coordinator, 5_000, new)
    assert old.id in coordinator.group.members
    pass_time(coordinator, 5_000, new)

    assert old.id not in coordinator.group.members


def test_a_classic_member_that_does_not_join_is_removed_after_its_rebalance_timeout():
    coordinator, new, old = mixed()
    coordinator.topics.put("t", 8)
    new.beat()

    pass_time(coordinator, REBALANCE_MS, new, old)
    assert old.id in coordinator.group.members
    pass_time(coordinator, INTERVAL_MS, new, old)

    assert old.id not in coordinator.group.members


def test_a_classic_member_that_does_not_sync_is_removed_after_its_rebalance_timeout():
    coordinator, new, old = mixed()
    coordinator.topics.put("t", 8)
    new.beat()
    old.join()

    pass_time(coordinator, REBALANCE_MS, new, old)

    assert old.id not in coordinator.group.members


def test_a_group_without_members_becomes_a_classic_one_when_it_is_joined_this_way():
    coordinator = Coordinator(Catalogue(t=2))
    new = Consumer(coordinator, "n", "t")
    settle(new)
    new.leave()
    old = OldConsumer(coordinator, "t")

    assert coordinator.refusal(old.request(protocol_type=""), 9) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert coordinator.group.state == "Empty"
    old.join()
    old.sync(t=[0, 1])

    assert isinstance(coordinator.groups[GROUP], ClassicGroup)
    coordinator.reload()
    assert coordinator.groups[GROUP].state == "Stable"
    assert old.beat() is ErrorCode.NONE
