"""A group as records tell of it, and what may be asked of it."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.group import (
    ASSIGNING,
    EMPTY,
    RECONCILING,
    STABLE,
    ConsumerGroup,
    names_of,
    pattern_uses,
    subscribed_names,
)
from andiron.groups.consumer.member import AWAY, UNREVOKED_PARTITIONS, Member, Profile
from andiron.groups.consumer.member import STABLE as AT_REST
from andiron.groups.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    pattern_record,
    pattern_tombstone,
    target_epoch_record,
    target_record,
)
from andiron.groups.group import Caller
from andiron.groups.records import (
    ClassicMemberMetadata,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis

T = b"t" * 16
A = Member("a", Profile(topics=("t",))).at(5, AT_REST, {T: {0: 3, 1: 5}})


def group_of(*members: Member, epoch: int = 5, assignment_epoch: int = 5) -> ConsumerGroup:
    group = ConsumerGroup("g")
    for member in members:
        tell(group, member_record("g", member), current_record("g", member))
    tell(group, epoch_record("g", epoch, 77), target_epoch_record("g", assignment_epoch, Millis(9)))
    return group


def tell(group: ConsumerGroup, *records) -> None:
    for record in records:
        group.replay(record.key, record.value)


def code(ask) -> ErrorCode:
    try:
        ask()
    except ProtocolError as error:
        return error.code
    return ErrorCode.NONE


# ── replay ───────────────────────────────────────────────────────────────────────────


def test_members_epochs_and_owners_are_what_the_records_say():
    group = group_of(A)

    assert (group.epoch, group.metadata_hash) == (5, 77)
    assert (group.assignment_epoch, group.assignment_timestamp) == (5, 9)
    assert group.members == {"a": A}
    assert group.owners == {T: {0: "a", 1: "a"}}


def test_targets_are_kept_by_member():
    group = group_of(A)

    tell(group, target_record("g", "a", {T: (0, 1)}))
    assert group.targets == {"a": {T: (0, 1)}}
    tell(group, *member_tombstones("g", "a"))
    assert (group.members, group.targets, group.owners) == ({}, {}, {})


def test_what_a_member_is_giving_up_is_still_its_own():
    group = group_of(A.at(5, UNREVOKED_PARTITIONS, {T: {0: 3}}, {T: {1: 5}}))

    assert not group.is_free(T, 1)
    tell(group, current_record("g", A.at(6, AT_REST, {T: {0: 3}})))
    assert group.is_free(T, 1)
    assert not group.is_free(T, 0)


def test_a_partition_that_was_taken_over_stays_with_the_new_owner_whatever_stands_first():
    b = Member("b", Profile()).at(6, AT_REST, {T: {1: 6}})
    group = group_of(A, b)

    tell(group, current_record("g", A.at(6, AT_REST, {T: {0: 3}})))

    assert group.owners == {T: {0: "a", 1: "b"}}


def test_tombstones_of_what_is_not_there_do_nothing():
    group = group_of()

    tell(group, *member_tombstones("g", "nobody"), pattern_tombstone("g", "t.*"))

    assert group.state == EMPTY


def test_a_current_assignment_may_stand_before_its_member():
    group = ConsumerGroup("g")

    tell(group, current_record("g", A), member_record("g", A))

    assert group.members == {"a": A}


def test_what_older_brokers_wrote_of_topics_is_noticed():
    group = group_of()

    group.replay(ConsumerGroupPartitionMetadataKey("g"), ConsumerGroupPartitionMetadataValue())

    assert group.has_partition_metadata


# ── members ──────────────────────────────────────────────────────────────────────────


def test_the_state_follows_from_the_epochs():
    assert group_of().state == EMPTY
    assert group_of(A, epoch=6).state == ASSIGNING
    assert group_of(A, epoch=6, assignment_epoch=6).state == RECONCILING
    assert group_of(A).state == STABLE


def test_a_static_member_is_known_by_its_instance():
    group = group_of(A._replace(profile=Profile(instance_id="i")))

    assert group.static_member("i") == group.members["a"]
    assert group.static_member("j") is None
    assert group.static_member(None) is None
    assert code(lambda: group.check_static("a", "i")) is ErrorCode.NONE
    assert code(lambda: group.check_static("b", "i")) is ErrorCode.FENCED_INSTANCE_ID
    assert code(lambda: group.check_static("a", "j")) is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_instance_that_went_over_to_another_member_does_not_go_with_the_first():
    static = A._replace(profile=Profile(instance_id="i"))
    group = group_of(static)

    tell(group, member_record("g", static._replace(id="b")), *member_tombstones("g", "a"))

    member = group.static_member("i")
    assert member is not None and member.id == "b"


def test_patterns_count_as_what_they_mean():
    p = Member("p", Profile(topics=("t",), pattern="u.*"))
    group = group_of(A, p)
    tell(group, pattern_record("g", "u.*", ["u1", "u2"], 1, Millis(0)))

    assert group.uses == pattern_uses([p]) == {"u.*": 1}
    assert group.is_subscribed_to("u2")
    assert not group.is_subscribed_to("v")
    assert names_of(p.profile, {"u.*": ("u1",)}) == ("t", "u1")
    assert subscribed_names([A, p], {"u.*": ("s",)}) == ["s", "t"]
    tell(group, *member_tombstones("g", "p"))
    assert not group.is_subscribed_to("u2")


# ── what may be asked of any group ───────────────────────────────────────────────────


def commit(
    group: ConsumerGroup, member_id: str, epoch: int, version: int = 9, *, transactional: bool = False
):
    return group.check_commit(Caller(member_id, None, epoch), transactional=transactional, version=version)


def test_a_member_commits_with_its_epoch():
    group = group_of(A)

    assert commit(group, "a", 5) is None
    assert code(lambda: commit(group, "b", 5)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert code(lambda: commit(group, "", -1)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert code(lambda: commit(group, "a", 6)) is ErrorCode.STALE_MEMBER_EPOCH
    assert code(lambda: commit(group, "a", 5, version=8)) is ErrorCode.UNSUPPORTED_VERSION


def test_a_member_commits_with_an_older_epoch_what_it_has_held_since():
    check = commit(group_of(A), "a", 4)

    assert check is not None
    assert code(lambda: check(T, 0)) is ErrorCode.NONE
    assert code(lambda: check(T, 1)) is ErrorCode.STALE_MEMBER_EPOCH
    assert code(lambda: check(T, 2)) is ErrorCode.STALE_MEMBER_EPOCH


def test_to_a_member_of_the_classic_protocol_its_epoch_is_a_generation():
    classic = A._replace(profile=Profile(classic=ClassicMemberMetadata(1_000)))
    group = group_of(classic)

    assert commit(group, "a", 5, version=8) is None
    assert code(lambda: commit(group, "a", 6)) is ErrorCode.ILLEGAL_GENERATION
    assert code(lambda: commit(group, "a", 4)(T, 1)) is ErrorCode.ILLEGAL_GENERATION
    assert code(lambda: group.check_fetch(Caller("a", None, 4))) is ErrorCode.ILLEGAL_GENERATION


def test_nobody_is_in_the_way_of_a_commit_by_hand_to_a_group_without_members():
    assert commit(group_of(), "", -1) is None


def test_a_producer_need_not_say_for_whom_it_commits():
    group = group_of(A)

    assert commit(group, "", -1, transactional=True) is None
    assert commit(group, "a", 5, version=3, transactional=True) is None


def test_whoever_says_who_it_is_when_it_asks_for_offsets_must_be_that():
    group = group_of(A)

    assert code(lambda: group.check_fetch(Caller("", None, -1))) is ErrorCode.NONE
    assert code(lambda: group.check_fetch(Caller("a", None, 5))) is ErrorCode.NONE
    assert code(lambda: group.check_fetch(Caller("a", None, 4))) is ErrorCode.STALE_MEMBER_EPOCH
    assert code(lambda: group.check_fetch(Caller("b", None, 5))) is ErrorCode.UNKNOWN_MEMBER_ID


def test_offsets_of_topics_that_nobody_reads_grow_old():
    group = group_of(A)

    assert group.offsets_idle_since("t", Millis(3)) is None
    assert group.offsets_idle_since("u", Millis(3)) == 3
    assert group_of().offsets_idle_since("t", Millis(3)) == 3


def test_a_group_with_members_is_not_deleted():
    with pytest.raises(ProtocolError) as refused:
        group_of(A._replace(epoch=AWAY)).check_delete()

    assert refused.value.code is ErrorCode.NON_EMPTY_GROUP
    group_of().check_delete()


def test_after_its_tombstones_nothing_is_left():
    group = group_of(A)
    tell(group, target_record("g", "a", {T: (0, 1)}), pattern_record("g", "t.*", ["t"], 1, Millis(0)))
    new = ConsumerGroup("g")

    tell(group, *group.tombstones())

    for name in ("epoch", "metadata_hash", "assignment_epoch", "members", "targets", "patterns", "owners"):
        assert getattr(group, name) == getattr(new, name)
