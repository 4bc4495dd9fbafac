"""Groups and offsets go when they are told to, unless somebody needs them."""

from __future__ import annotations

import pytest

from andiron.groups.group import CONSUMER
from andiron.groups.offsets.records import OffsetCommitKey
from andiron.groups.records import GroupMetadataKey, GroupRecord
from andiron.model.errors import ProtocolError
from andiron.wire.messages.delete_groups import DeletableGroupResult
from worlds.offsets import Crowd, OffsetsWorld

FINE = "NONE"


def refusal(of) -> str:
    with pytest.raises(ProtocolError) as refused:
        of()
    return refused.value.code.name


# ── offsets ──────────────────────────────────────────────────────────────────────────


def test_an_offset_is_deleted():
    world = OffsetsWorld()
    world.commit({"t": {0: 1, 1: 1}, "u": {0: 1}})

    assert world.delete_offsets({"t": [0]}) == {"t": {0: FINE}}
    assert world.fetched() == {"t": {1: 1}, "u": {0: 1}}


def test_deleting_what_is_not_there_is_fine_and_writes_nothing():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    written = len(world.log)

    assert world.delete_offsets({"t": [1, 2]}) == {"t": {1: FINE, 2: FINE}}
    assert len(world.log) == written


def test_a_partition_named_twice_is_deleted_once():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.delete_offsets({"t": [0, 0]})

    assert world.log[1:] == [GroupRecord(OffsetCommitKey("g", "t", 0), None)]


def test_a_pending_offset_is_deleted_too():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.commit_in_transaction({"t": {1: 5}})
    assert world.delete_offsets({"t": [1]}) == {"t": {1: FINE}}
    world.end(7, commit=True)

    assert world.fetched() == {"t": {0: 1}}


def test_topics_and_partitions_that_are_not_there_are_told_so():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})

    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert world.delete_offsets({"t": [9, 0], "nix": [0]}) == {
        "t": {9: unknown, 0: FINE},
        "nix": {0: unknown},
    }


def test_topics_that_members_read_are_left_alone():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}, "u": {0: 1}})
    world.world.groups["g"] = Crowd(reads=["t"])

    assert world.delete_offsets({"t": [0, 9], "u": [0]}) == {
        "t": {0: "GROUP_SUBSCRIBED_TO_TOPIC", 9: "UNKNOWN_TOPIC_OR_PARTITION"},
        "u": {0: FINE},
    }
    assert world.fetched() == {"t": {0: 1}}


def test_nothing_is_deleted_of_a_group_that_is_not_there():
    world = OffsetsWorld()

    assert refusal(lambda: world.delete_offsets({"t": [0]})) == "GROUP_ID_NOT_FOUND"
    assert refusal(lambda: world.delete_offsets({"t": [0]}, "")) == "INVALID_GROUP_ID"


@pytest.mark.parametrize(
    ("group", "error"),
    [
        (Crowd(protocol_type="connect"), "NON_EMPTY_GROUP"),
        (Crowd(protocol_type="connect", state="Empty"), FINE),
        (Crowd(protocol_type="consumer"), FINE),
        (Crowd(protocol_type="other", kind=CONSUMER), FINE),
    ],
)
def test_what_the_members_of_other_protocols_read_is_not_known(group: Crowd, error: str):
    world = OffsetsWorld()
    world.world.groups["g"] = group

    if error == FINE:
        assert world.delete_offsets({"t": [0]}) == {"t": {0: FINE}}
    else:
        assert refusal(lambda: world.delete_offsets({"t": [0]})) == error


# ── groups ───────────────────────────────────────────────────────────────────────────


def test_a_group_goes_with_all_its_offsets():
    world = OffsetsWorld()
    world.world.groups["g"] = Crowd(state="Empty")
    world.commit({"t": {0: 1}, "u": {0: 1}})
    world.commit({"t": {0: 1}}, "other")
    written = len(world.log)

    assert world.delete_group() == DeletableGroupResult("g", 0)
    assert world.log[written:] == [
        GroupRecord(OffsetCommitKey("g", "t", 0), None),
        GroupRecord(OffsetCommitKey("g", "u", 0), None),
        GroupRecord(GroupMetadataKey("g"), None),
    ]
    assert world.fetched() == {}
    assert world.fetched(group="other") == {"t": {0: 1}}


def test_a_group_of_offsets_alone_can_be_deleted():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.delete_group()

    assert world.log[1:] == [GroupRecord(OffsetCommitKey("g", "t", 0), None)]
    assert list(world.offsets) == []


def test_what_is_pending_goes_with_its_group():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.commit_in_transaction({"t": {0: 5, 1: 5}})
    world.delete_group()
    world.end(7, commit=True)

    assert list(world.offsets) == []


def test_a_group_with_members_stays():
    world = OffsetsWorld()
    world.world.groups["g"] = Crowd(state="Stable")
    world.commit({"t": {0: 1}}, member="m", epoch=1)

    assert refusal(world.delete_group) == "NON_EMPTY_GROUP"
    assert world.fetched() == {"t": {0: 1}}


def test_a_group_that_is_not_there_cannot_be_deleted():
    assert refusal(OffsetsWorld().delete_group) == "GROUP_ID_NOT_FOUND"
