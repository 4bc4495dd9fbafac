"""The groups of a shard, all of them or some."""

from __future__ import annotations

import pytest

from andiron.groups import listing
from andiron.groups.group import CONSUMER
from andiron.wire.messages.list_groups import ListedGroup
from worlds.offsets import Crowd, OffsetsWorld


@pytest.fixture
def context() -> OffsetsWorld:
    context = OffsetsWorld()
    context.context.groups["classic"] = Crowd("classic", protocol_type="connect", state="PreparingRebalance")
    context.context.groups["new"] = Crowd("new", kind=CONSUMER, state="Empty")
    context.commit({"t": {0: 1}}, "new")
    context.commit({"t": {0: 1}}, "alone")
    context.commit_in_transaction({"t": {0: 1}}, group="pending")
    return context


def test_every_group_is_listed_once(context):
    assert context.list() == [
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
def test_filters_let_through_what_they_name(context, states, types, found):
    assert [group.group_id for group in context.list(states, types)] == found


@pytest.mark.parametrize(
    ("said", "existing"),
    [
        ([], []),
        (["Empty", "x", "EMPTY"], ["empty"]),
        (["y", "x"], ["y"]),
        ([f"n{number}" for number in range(20_000)] + ["Stable"], ["stable"]),
    ],
    ids=["none", "twice", "nothing known", "thousands"],
)
def test_of_a_filter_only_what_lets_something_through_is_read_by_every_shard(said, existing):
    assert listing.existing_filters(said, listing.STATES) == existing
