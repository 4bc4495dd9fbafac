"""The groups of a shard, all of them or some."""

from __future__ import annotations

import pytest

from andiron.groups import listing
from andiron.groups.group import CONSUMER
from andiron.wire.messages.list_groups import ListedGroup
from worlds.offsets import Crowd, OffsetsWorld


@pytest.fixture
def world() -> OffsetsWorld:
    world = OffsetsWorld()
    world.world.groups["classic"] = Crowd("classic", protocol_type="connect", state="PreparingRebalance")
    world.world.groups["new"] = Crowd("new", kind=CONSUMER, state="Empty")
    world.commit({"t": {0: 1}}, "new")
    world.commit({"t": {0: 1}}, "alone")
    world.commit_in_transaction({"t": {0: 1}}, group="pending")
    return world


def test_every_group_is_listed_once(world):
    assert world.list() == [
        ListedGroup("classic", "connect", "PreparingRebalance", "classic"),
        ListedGroup("new", "consumer", "Empty", "consumer"),
        ListedGroup("alone", "", "Empty", "classic"),
        ListedGroup("pending", "", "Empty", "classic"),
    ]


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        (("empty",), (), ["new", "alone", "pending"]),
        ((" EMPTY ", "Stable"), ("CLASSIC",), ["alone", "pending"]),
        (("preparingrebalance",), (), ["classic"]),
        ((), ("Consumer",), ["new"]),
        (("nonsense",), (), []),
        ((), ("nonsense",), []),
    ],
)
def test_filters_let_through_what_they_name(world, states, types, found):
    assert [group.group_id for group in world.list(states, types)] == found


@pytest.mark.parametrize(
    ("said", "telling"),
    [
        ([], []),
        (["Empty", "x", "EMPTY"], ["empty"]),
        (["y", "x"], ["y"]),
        ([f"n{number}" for number in range(20_000)] + ["Stable"], ["stable"]),
    ],
    ids=["none", "twice", "nothing known", "thousands"],
)
def test_of_a_filter_only_what_lets_something_through_is_read_by_every_shard(said, telling):
    assert listing.telling(said, listing.STATES) == telling
