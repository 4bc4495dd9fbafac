"""Millions of empty entries, or as many as are let in: no step takes long for them, and no request holds much.

Every array of every API in its newest version here; all versions, at twenty megabytes: `make fuzz`.
"""

from __future__ import annotations

import pytest

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
