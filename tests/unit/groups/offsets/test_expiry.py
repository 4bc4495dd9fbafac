"""Offsets go when their time is over, groups when they have nothing left, both a piece at a time."""

from __future__ import annotations

import pytest

from andiron.groups.offsets import expiry
from andiron.groups.records import GroupMetadataKey, GroupRecord
from worlds.offsets import HOUR, Crowd, OffsetsWorld, Shelf

DAY = 24 * HOUR
CHECK = 600_000


@pytest.fixture
def world() -> OffsetsWorld:
    """Offsets are kept for a day."""
    world = OffsetsWorld(offsets_retention_minutes=24 * 60)
    world.expiry.begin(world.now)
    return world


def test_offsets_are_looked_through_from_time_to_time(world):
    assert world.context.timers.next_deadline() == world.now + CHECK
    assert world.pass_time(3 * CHECK) == [0, 0, 0]


def test_an_offset_of_a_group_of_offsets_alone_goes_a_retention_after_its_commit(world):
    world.commit({"t": {0: 1}})
    world.pass_time(HOUR)
    world.commit({"t": {1: 1}})

    world.pass_time(DAY - HOUR - 1)
    assert world.fetched() == {"t": {0: 1, 1: 1}}
    world.pass_time(CHECK)
    assert world.fetched() == {"t": {1: 1}}
    world.pass_time(HOUR)
    assert list(world.offsets) == []


def test_the_group_says_from_when_on_the_time_runs(world):
    world.context.groups["g"] = Crowd(state="Empty", idle_since=world.now + DAY)
    world.commit({"t": {0: 1}})

    world.pass_time(2 * DAY - 1)
    assert world.fetched() == {"t": {0: 1}}
    world.pass_time(CHECK)
    assert world.fetched() == {}


def test_what_members_read_stays(world):
    world.context.groups["g"] = Crowd(reads=["t"])
    world.commit({"t": {0: 1}, "u": {0: 1}}, member="m", epoch=1)
    world.pass_time(2 * DAY)

    assert world.fetched() == {"t": {0: 1}}
    assert "g" in world.context.groups


def test_an_offset_with_a_time_of_its_own_goes_then(world):
    world.commit({"t": {0: 1}}, version=2, retention_ms=3 * HOUR)
    world.commit({"t": {1: 1}}, version=2, retention_ms=3 * DAY)

    world.pass_time(4 * HOUR)
    assert world.fetched() == {"t": {1: 1}}
    world.pass_time(2 * DAY)
    assert world.fetched() == {"t": {1: 1}}


def test_an_offset_that_a_transaction_may_replace_stays_and_so_does_its_group(world):
    world.context.groups["g"] = Crowd(state="Empty")
    world.commit({"t": {0: 1, 1: 1}})
    world.commit_in_transaction({"t": {0: 5}})

    world.pass_time(2 * DAY)
    assert world.fetched() == {"t": {0: 1}}
    assert "g" in world.context.groups
    world.end(7, commit=False)
    world.pass_time(CHECK)
    assert world.fetched() == {}
    assert "g" not in world.context.groups


def test_an_empty_group_stays_for_an_offset_that_may_yet_count(world):
    world.context.groups["g"] = Crowd(state="Empty")
    world.commit_in_transaction({"t": {0: 5}})
    world.pass_time(2 * DAY)

    assert "g" in world.context.groups


def test_an_empty_group_goes_with_its_last_offset(world):
    world.context.groups["g"] = Crowd(state="Empty")
    world.commit({"t": {0: 1}})
    world.pass_time(DAY - 1)
    assert "g" in world.context.groups

    world.pass_time(CHECK)
    assert "g" not in world.context.groups
    assert world.log[-1] == GroupRecord(GroupMetadataKey("g"), None)


def test_an_empty_group_without_offsets_goes_at_once(world):
    world.context.groups["g"] = Crowd(state="Empty")
    world.pass_time(CHECK)

    assert "g" not in world.context.groups


def test_a_group_with_members_stays_without_offsets(world):
    world.context.groups["g"] = Crowd(state="Stable")
    world.pass_time(2 * DAY)

    assert "g" in world.context.groups


# ── pieces ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(expiry, "RECORDS_MAX", 10)
    monkeypatch.setattr(expiry, "LOOKED_AT_MAX", 40)


def many(**settings) -> OffsetsWorld:
    world = OffsetsWorld(Shelf(t=100), **settings)
    world.expiry.begin(world.now)
    return world


def test_a_large_group_is_removed_piece_by_piece_and_itself_last(small_pieces):
    world = many(offsets_retention_minutes=1)
    world.context.groups["g"] = Crowd(state="Empty")
    world.commit({"t": dict.fromkeys(range(25), 1)})

    assert world.pass_time(CHECK + 10) == [10, 10, 6]
    assert list(world.offsets) == []
    assert "g" not in world.context.groups
    assert world.context.timers.next_deadline() > world.now + CHECK // 2


def test_many_groups_are_looked_through_piece_by_piece(small_pieces):
    world = many()
    for number in range(10):
        world.commit({"t": dict.fromkeys(range(9), 1)}, f"g{number}")

    assert world.pass_time(CHECK + 10) == [0, 0, 0]
    assert len(list(world.offsets)) == 10


def test_what_comes_during_a_round_is_for_the_next(small_pieces):
    world = many(offsets_retention_minutes=1)
    world.commit({"t": dict.fromkeys(range(15), 1)}, "a")
    world.pass_time(CHECK)
    world.commit({"t": {0: 1}}, "b")

    assert world.pass_time(5) == [5]
    assert list(world.offsets) == ["b"]


def test_a_group_that_is_gone_by_its_turn_is_no_trouble(small_pieces):
    world = many(offsets_retention_minutes=1)
    for name in "ab":
        world.commit({"t": dict.fromkeys(range(15), 1)}, name)
    world.pass_time(CHECK)
    world.delete_group("a")
    world.delete_group("b")

    assert world.pass_time(10) == [0]


# ── deleted topics ───────────────────────────────────────────────────────────────────


def test_the_offsets_of_a_deleted_topic_go(world):
    world.commit({"t": {0: 1, 1: 1}, "u": {0: 1}}, "a")
    world.commit({"t": {0: 1}}, "b")
    world.topics.delete("t")

    world.settle(world.expiry.topics_deleted(["t"], world.now))
    assert world.fetched(group="a") == {"u": {0: 1}}
    assert list(world.offsets) == ["a"]


def test_pending_offsets_of_a_deleted_topic_go(world):
    world.commit_in_transaction({"t": {0: 1}})
    world.topics.delete("t")

    world.settle(world.expiry.topics_deleted(["t"], world.now))
    world.end(7, commit=True)
    assert list(world.offsets) == []


def test_offsets_of_the_topic_that_came_after_it_stay(world):
    world.commit({"t": {0: 1, 1: 1}})
    world.topics.delete("t")
    world.topics.create("t", 3)
    world.commit({"t": {1: 2}})
    world.commit_in_transaction({"t": {2: 2}})

    world.settle(world.expiry.topics_deleted(["t"], world.now))
    world.end(7, commit=True)
    assert world.fetched() == {"t": {1: 2, 2: 2}}


def test_a_deleted_topic_that_nobody_read_is_nothing(world):
    assert world.expiry.topics_deleted(["nix"], world.now).records == []
    assert world.context.timers.next_deadline() == world.now + CHECK


def test_what_a_large_topic_left_behind_goes_piece_by_piece(small_pieces):
    world = many()
    for name in "abc":
        world.commit({"t": dict.fromkeys(range(9), 1)}, name)
    world.topics.delete("t")

    first = world.expiry.topics_deleted(["t", "u"], world.now)
    assert len(first.records) == 10
    world.settle(first)
    assert world.pass_time(10) == [10, 7]
    assert list(world.offsets) == []
