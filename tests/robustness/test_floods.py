"""Millions of empty entries, or as many as are let in: no step takes long for them, and no request holds much.

Every array of every API in its newest version here; all versions, at twenty megabytes: `make fuzz`.
"""

from __future__ import annotations

import gc

import pytest

from andiron.groups.offsets.records import OffsetCommitKey, OffsetCommitValue
from andiron.groups.records import GroupRecord
from andiron.model.ids import Offset
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from andiron.wire.schema import Message
from fuzzing.bounds import HELD_MAX, STEP_S_MAX
from fuzzing.requests import Flood, floods
from fuzzing.victim import Victim

NEWEST = {(flood.key, flood.path): flood for flood in floods()}.values()
MEGABYTES = 4


@pytest.fixture(scope="module")
def victim() -> Victim:
    return Victim()


@pytest.mark.parametrize("flood", NEWEST, ids=str)
def test_no_flood_holds_up_a_node(victim: Victim, flood: Flood) -> None:
    slowest = max(
        victim.slowest_for(flood.request(MEGABYTES << 20), flood.listener),
        victim.slowest_for(flood.crowd(min(flood.most, 20_000)), flood.listener),
    )

    assert slowest < STEP_S_MAX
    assert not victim.node.failures


# The six that took a hundred seconds and two gigabytes.
SIX = ("DescribeGroups", "FindCoordinator", "DescribeConfigs", "OffsetFetch", "Metadata", "CreateTopics")


@pytest.mark.parametrize("name", SIX)
def test_what_is_held_for_a_request_is_bounded(victim: Victim, name: str) -> None:
    flood = next(flood for flood in NEWEST if str(flood).split()[0] == name)

    assert victim.most_held_for(flood.request(20 << 20), flood.listener) < HELD_MAX
    assert victim.most_held_for(flood.crowd(4_000), flood.listener) < HELD_MAX


# ── little is asked, and there is much ───────────────────────────────────────────────


GROUPS, OFFSETS = 20_000, 100_000


@pytest.fixture(scope="module")
def full() -> Victim:
    """A node with thousands of groups, one of which has read everything."""
    full = Victim()
    full.ask(FindCoordinatorRequest(coordinator_keys=["big"]))
    full.settle()
    coordinator = full.node.broker.groups
    kept = OffsetCommitValue(offset=5, metadata="", commit_timestamp=full.now)
    for number in range(GROUPS + OFFSETS):
        group, topic = (f"g{number}", "a") if number < GROUPS else ("big", f"t{number // 100}")
        shard = coordinator.shards.shard(coordinator.partition_of(group))
        shard.machine.replay(GroupRecord(OffsetCommitKey(group, topic, number % 100), kept), Offset(0))
    gc.collect()
    gc.freeze()
    return full


ALL = {
    "groups": (ListGroupsRequest(), 5),
    "groups, by filter": (ListGroupsRequest([f"n{number}" for number in range(19_000)]), 5),
    "offsets": (OffsetFetchRequest(groups=[OffsetFetchRequestGroup("big", topics=None)]), 9),
    "offsets, in the old way": (OffsetFetchRequest("big", None), 7),
}


@pytest.mark.parametrize("asked", ALL.values(), ids=ALL)
def test_all_there_is_can_be_asked_for(full: Victim, asked: tuple[Message, int]) -> None:
    request, version = asked
    frame = encode_request_header(request.__api_key__, version, 1, "x") + encode_message(request, version)

    assert full.slowest_for(frame) < STEP_S_MAX
