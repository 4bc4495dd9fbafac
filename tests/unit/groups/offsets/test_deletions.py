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
    context = OffsetsWorld()
    context.commit({"t": {0: 1, 1: 1}, "u": {0: 1}})

    assert context.delete_offsets({"t": [0]}) == {"t": {0: FINE}}
    assert context.fetched() == {"t": {1: 1}, "u": {0: 1}}


def test_deleting_what_is_not_there_is_fine_and_writes_nothing():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})
    written = len(context.log)

    assert context.delete_offsets({"t": [1, 2]}) == {"t": {1: FINE, 2: FINE}}
    assert len(context.log) == written


def test_a_partition_named_twice_is_deleted_once():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})
    context.delete_offsets({"t": [0, 0]})

    assert context.log[1:] == [GroupRecord(OffsetCommitKey("g", "t", 0), None)]


def test_a_pending_offset_is_deleted_too():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})
    context.commit_in_transaction({"t": {1: 5}})
    assert context.delete_offsets({"t": [1]}) == {"t": {1: FINE}}
    context.end(7, commit=True)

    assert context.fetched() == {"t": {0: 1}}


def test_topics_and_partitions_that_are_not_there_are_told_so():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})

    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert context.delete_offsets({"t": [9, 0], "nix": [0]}) == {
        "t": {9: unknown, 0: FINE},
        "nix": {0: unknown},
    }


def test_topics_that_members_read_are_left_alone():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}, "u": {0: 1}})
    context.context.groups["g"] = Crowd(reads=["t"])

    assert context.delete_offsets({"t": [0, 9], "u": [0]}) == {
        "t": {0: "GROUP_SUBSCRIBED_TO_TOPIC", 9: "UNKNOWN_TOPIC_OR_PARTITION"},
        "u": {0: FINE},
    }
    assert context.fetched() == {"t": {0: 1}}


def test_nothing_is_deleted_of_a_group_that_is_not_there():
    context = OffsetsWorld()

    assert refusal(lambda: context.delete_offsets({"t": [0]})) == "GROUP_ID_NOT_FOUND"
    assert refusal(lambda: context.delete_offsets({"t": [0]}, "")) == "INVALID_GROUP_ID"


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
    context = OffsetsWorld()
    context.context.groups["g"] = group

    if error == FINE:
        assert context.delete_offsets({"t": [0]}) == {"t": {0: FINE}}
    else:
        assert refusal(lambda: context.delete_offsets({"t": [0]})) == error


# ── groups ───────────────────────────────────────────────────────────────────────────


def test_a_group_goes_with_all_its_offsets():
    context = OffsetsWorld()
    context.context.groups["g"] = Crowd(state="Empty")
    context.commit({"t": {0: 1}, "u": {0: 1}})
    context.commit({"t": {0: 1}}, "other")
    written = len(context.log)

    assert context.delete_group() == DeletableGroupResult("g", 0)
    assert context.log[written:] == [
        GroupRecord(OffsetCommitKey("g", "t", 0), None),
        GroupRecord(OffsetCommitKey("g", "u", 0), None),
        GroupRecord(GroupMetadataKey("g"), None),
    ]
    assert context.fetched() == {}
    assert context.fetched(group="other") == {"t": {0: 1}}


def test_a_group_of_offsets_alone_can_be_deleted():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})
    context.delete_group()

    assert context.log[1:] == [GroupRecord(OffsetCommitKey("g", "t", 0), None)]
    assert list(context.offsets) == []


def test_what_is_pending_goes_with_its_group():
    context = OffsetsWorld()
    context.commit({"t": {0: 1}})
    context.commit_in_transaction({"t": {0: 5, 1: 5}})
    context.delete_group()
    context.end(7, commit=True)

    assert list(context.offsets) == []


def test_a_group_with_members_stays():
    context = OffsetsWorld()
    context.context.groups["g"] = Crowd(state="Stable")
    context.commit({"t": {0: 1}}, member="m", epoch=1)

    assert refusal(context.delete_group) == "NON_EMPTY_GROUP"
    assert context.fetched() == {"t": {0: 1}}


def test_a_group_that_is_not_there_cannot_be_deleted():
    assert refusal(OffsetsWorld().delete_group) == "GROUP_ID_NOT_FOUND"
