"""What groups hold in memory: it is counted, bounded over all groups together, and given back when members are gone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from andiron.groups import group_memory
from andiron.groups.settings import GroupSettings
from andiron.groups.shard import GroupShard
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.machine import CoordinatorRequest, LogLoaded, Promise, TimePassed
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.delete_groups import DeleteGroupsRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.leave_group import LeaveGroupRequest
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from worlds.offsets import Shelf

SESSION_MS = 30_000
LARGE = 100_000
ROUND_MS = GroupSettings().offsets_retention_check_interval_ms


class Crowd:
    """A shard, and members that come to any of its groups."""

    def __init__(self, held_elsewhere: int = 0) -> None:
        self.held_elsewhere = held_elsewhere
        settings = replace(GroupSettings(), group_initial_rebalance_delay_ms=0)
        self.shard = GroupShard(
            settings, Shelf(t=3), Chance(1), lambda group: {},
            held_by_all=lambda: self.shard.bytes_held + self.held_elsewhere,
        )  # fmt: skip
        self.now, self._end = Millis(0), 0
        self._run(LogLoaded())

    @property
    def bytes_held(self) -> int:
        return self.shard.bytes_held

    def _run(self, request: Any) -> Any:
        decision = self.shard.decide(request, self.now)
        for record in decision.records:
            self.shard.replay(record, Offset(self._end))
            self._end += 1
        return decision.response

    def ask(self, body: Any, version: int) -> Any:
        response = self._run(CoordinatorRequest(body, version, "client", "/127.0.0.1"))
        if isinstance(response, Promise):
            self.pass_time(0)
        return response.response if isinstance(response, Promise) else response

    def pass_time(self, ms: int) -> None:
        until = self.now + ms
        while self.shard.next_deadline() <= until:
            self.now = Millis(max(self.now, self.shard.next_deadline()))
            self._run(TimePassed())
        self.now = Millis(until)

    def join(
        self, group: str, size: int = LARGE, member: str = "", instance: str | None = None, version: int = 3
    ) -> Any:
        """JoinGroup of a member that says so much of itself."""
        protocols = [JoinGroupRequestProtocol("range", bytes(size))]
        request = JoinGroupRequest(group, SESSION_MS, 2**31 - 1, member, instance, "any", protocols)
        return self.ask(request, version)

    def heartbeat(
        self, group: str, topics: list[str] | None, epoch: int = 0, instance: str | None = None
    ) -> Any:
        """ConsumerGroupHeartbeat of a member that reads these."""
        request = ConsumerGroupHeartbeatRequest(
            group, "m", epoch, instance, rebalance_timeout_ms=SESSION_MS, subscribed_topic_names=topics,
            topic_partitions=[],
        )  # fmt: skip
        return self.ask(request, 1)


NAMES = ["t", *(f"{number:0100d}" for number in range(1_000))]


def newcomer(crowd: Crowd) -> None:
    crowd.join("g", version=9)  # and never comes back with its id


def joined(crowd: Crowd) -> None:
    crowd.join("g")  # and never asks for its assignment


def static(crowd: Crowd) -> None:
    crowd.join("g", instance="i", version=9)


def static_twice(crowd: Crowd) -> None:
    crowd.join("g", instance="i", version=9)
    crowd.join("g", instance="i", version=9)


def assigned(crowd: Crowd) -> None:
    member = crowd.join("g").member_id
    given = [SyncGroupRequestAssignment(member, bytes(LARGE))]
    crowd.ask(SyncGroupRequest("g", 1, member, assignments=given), 3)


def assigned_to(crowd: Crowd) -> None:
    crowd.heartbeat("g", NAMES)


def away(crowd: Crowd) -> None:
    crowd.heartbeat("g", NAMES, instance="i")
    crowd.heartbeat("g", None, epoch=-2, instance="i")


def by_pattern(crowd: Crowd) -> None:
    request = ConsumerGroupHeartbeatRequest(
        "g", "m", 0, rebalance_timeout_ms=SESSION_MS, subscribed_topic_regex="t.*", topic_partitions=[]
    )
    crowd.ask(request, 1)


KINDS = [newcomer, joined, static, static_twice, assigned, assigned_to, away, by_pattern]


@pytest.mark.parametrize("comes", KINDS, ids=lambda kind: kind.__name__)
def test_a_member_that_is_never_heard_from_again_leaves_nothing_behind(comes):
    crowd = Crowd()
    comes(crowd)
    assert crowd.bytes_held >= group_memory.GROUP_BYTES + group_memory.MEMBER_BYTES

    crowd.pass_time(10 * SESSION_MS)
    assert crowd.bytes_held <= 2 * group_memory.GROUP_BYTES, "it may be that an empty group was written"
    crowd.pass_time(ROUND_MS)

    assert crowd.bytes_held == 0
    assert not crowd.shard.groups


@pytest.mark.parametrize("comes", KINDS, ids=lambda kind: kind.__name__)
def test_what_a_member_holds_is_told_by_the_log_as_well(comes):
    """Whatever was counted on the way: the group weighs what its members weigh."""
    crowd = Crowd()
    comes(crowd)
    (group,) = crowd.shard.groups.values()
    members = sum(group.bytes_held_for(id, None) for id in group.members)

    assert members <= group.bytes_held <= members + group_memory.GROUP_BYTES + 3_000
    assert crowd.bytes_held == group.bytes_held


def test_a_member_that_goes_gives_back_what_it_held():
    crowd = Crowd()
    member = crowd.join("g").member_id
    assert crowd.bytes_held > LARGE

    crowd.ask(LeaveGroupRequest("g", member), 2)
    assert crowd.bytes_held < 2 * group_memory.GROUP_BYTES
    crowd.ask(DeleteGroupsRequest(["g"]), 2)
    assert crowd.bytes_held == 0


# ── too much ─────────────────────────────────────────────────────────────────────────


def refused(joining) -> bool:
    try:
        joining()
    except ProtocolError as error:
        assert error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return True
    return False


def test_the_members_of_all_groups_together_are_bounded(monkeypatch):
    monkeypatch.setattr(group_memory, "MEMORY_MAX", 20 * LARGE)
    crowd = Crowd()

    let_in = sum(not refused(lambda n=number: crowd.join(f"g{n}")) for number in range(1_000))

    assert 15 <= let_in <= 21
    assert crowd.bytes_held < 22 * LARGE
    assert refused(lambda: crowd.heartbeat("h", NAMES)), "whatever it speaks"
    assert refused(lambda: crowd.join("h", version=9)), "nor is it given an id"
    crowd.pass_time(2 * SESSION_MS)
    assert not refused(lambda: crowd.join("h")), "sessions that ended have made room"


def test_members_that_joined_before_the_bound_was_reached_go_on():
    crowd = Crowd()
    member = crowd.join("g", instance="i", version=9).member_id
    epoch = crowd.heartbeat("h", NAMES).member_epoch
    crowd.held_elsewhere = group_memory.MEMORY_MAX

    assert crowd.ask(HeartbeatRequest("g", 1, member, "i"), 3).error_code == 0
    assert crowd.join("g", member=member, instance="i", version=9).member_id == member
    assert crowd.join("g", instance="i", version=9).member_id != member, "a static one that has restarted"
    assert crowd.heartbeat("h", None, epoch).error_code == 0
    assert refused(lambda: crowd.join("g", size=2 * LARGE, instance="i", version=9)), "unless it says more"
    assert refused(lambda: crowd.heartbeat("h", [*NAMES, "x" * 70_000], epoch))


def test_memory_of_groups_in_other_shards_counts():
    crowd = Crowd(held_elsewhere=group_memory.MEMORY_MAX)
    assert not refused(lambda: crowd.join("g"))
    assert refused(lambda: crowd.join("h"))
