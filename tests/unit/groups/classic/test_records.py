"""A classic group to its record and back."""

from __future__ import annotations

import pytest

from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.records import restored, written
from andiron.groups.classic.states import ClassicState
from andiron.groups.records import GroupMetadataKey, GroupMetadataValue, MemberMetadata, encode_record
from andiron.model.ids import Millis
from andiron.model.timers import Timers


def stable_group() -> ClassicGroup:
    group = ClassicGroup("g", Timers(), Millis(5))
    group.add(ClassicMember("a", None, "c", "/h", 60, 10, {"range": b"r", "robin": b"b"}, b"1"), "consumer")
    group.add(ClassicMember("b", "i", "d", "/j", 61, 11, {"range": b"s"}, b"2"), "consumer")
    group.generation, group.protocol, group.state = 3, "range", ClassicState.STABLE
    return group


VALUE = GroupMetadataValue(
    "consumer",
    3,
    "range",
    "a",
    5,
    [
        MemberMetadata("a", None, "c", "/h", 60, 10, b"r", b"1"),
        MemberMetadata("b", "i", "d", "/j", 61, 11, b"s", b"2"),
    ],
)


def test_a_group_is_written_with_the_metadata_of_its_protocol():
    record = written(stable_group())

    assert record.key == GroupMetadataKey("g")
    assert record.value == VALUE


def test_a_group_is_written_in_version_3():
    _, value = encode_record(written(stable_group()))

    assert value[:2] == b"\0\3"


def test_a_group_is_restored_as_it_was_written():
    group = restored("g", VALUE, Timers())

    assert (group.id, group.state, group.since, group.generation) == ("g", ClassicState.STABLE, 5, 3)
    assert (group.protocol_type, group.protocol, group.leader) == ("consumer", "range", "a")
    assert group.members["a"].protocols == {"range": b"r"}
    assert group.static_member("i").id == "b"
    assert written(group).value == VALUE


def test_a_group_without_members_is_restored_empty():
    group = restored("g", GroupMetadataValue("consumer", 4, None, None, 9, []), Timers())

    assert (group.state, group.generation, group.leader, group.since) == (ClassicState.EMPTY, 4, None, 9)
    assert written(group).value == GroupMetadataValue("consumer", 4, None, None, 9, [])


def test_group_records_of_old_versions_are_restored():
    group = restored(
        "g",
        GroupMetadataValue("consumer", 4, "range", "a", -1, [MemberMetadata("a", None, "", "", -1, 10)]),
        Timers(),
    )

    assert group.since is None
    assert group.members["a"].rebalance_timeout_ms == 10
    assert written(group).value.current_state_timestamp == -1


def test_a_record_that_contradicts_itself_makes_a_group_that_works():
    twice = [MemberMetadata("a", "i"), MemberMetadata("a", "i"), MemberMetadata("b", "i")]

    group = restored("g", GroupMetadataValue("consumer", 4, None, "nobody", 0, twice), Timers())

    assert group.leader == "a"
    assert group.select_protocol() == ""
    group.remove("a")
    group.remove("b")
    assert group.leader is None


def test_a_group_in_a_rebalance_is_not_written():
    group = stable_group()
    group.state = ClassicState.COMPLETING_REBALANCE

    with pytest.raises(AssertionError):
        written(group)
