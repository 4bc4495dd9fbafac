"""What members are told."""

from __future__ import annotations

from andiron.groups.classic.answers import Outcome, described, joined, synced
from andiron.groups.classic.group import ClassicGroup
from andiron.groups.classic.member import ClassicMember
from andiron.groups.classic.states import ClassicState
from andiron.groups.records import GroupMetadataKey, GroupRecord
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.model.machine import Promise
from andiron.model.timers import Timers
from andiron.wire.codec import encode_message
from andiron.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from andiron.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from andiron.wire.messages.sync_group import SyncGroupResponse
from groups.classic import error_of


def stable_group() -> ClassicGroup:
    group = ClassicGroup("g", Timers(), Millis(5))
    group.add(ClassicMember("a", None, "c", "/h", 60, 10, {"range": b"r", "robin": b"b"}, b"1"), "consumer")
    group.add(ClassicMember("b", "i", "d", "/j", 61, 11, {"range": b"s"}, b"2"), "consumer")
    group.generation, group.protocol, group.state = 3, "range", ClassicState.STABLE
    return group


def test_the_leader_is_told_of_all_and_followers_of_the_leader():
    group = stable_group()
    all_members = [JoinGroupResponseMember("a", None, b"r"), JoinGroupResponseMember("b", "i", b"s")]

    assert joined(group, group.members["a"]) == JoinGroupResponse(
        0, 0, 3, "consumer", "range", "a", False, "a", all_members
    )
    assert joined(group, group.members["b"]) == JoinGroupResponse(
        0, 0, 3, "consumer", "range", "a", False, "b", []
    )


def test_a_member_is_told_its_assignment_and_for_which_protocol():
    group = stable_group()

    assert synced(group, group.members["b"]) == SyncGroupResponse(0, 0, "consumer", "range", b"2")


def test_a_stable_group_is_described_with_what_its_members_said():
    described_group = described(stable_group())

    assert described_group == DescribedGroup(
        0,
        None,
        "g",
        "Stable",
        "consumer",
        "range",
        [
            DescribedGroupMember("a", None, "c", "/h", b"r", b"1"),
            DescribedGroupMember("b", "i", "d", "/j", b"s", b"2"),
        ],
    )


def test_a_group_that_rebalances_is_described_without_a_protocol():
    group = stable_group()
    group.state = ClassicState.PREPARING_REBALANCE

    described_group = described(group)

    assert (described_group.group_state, described_group.protocol_data) == ("PreparingRebalance", "")
    assert [each.member_metadata for each in described_group.members] == [b"", b""]
    assert [each.member_assignment for each in described_group.members] == [b"1", b"2"]


def test_a_member_that_waits_for_join_or_sync_is_answered_with_the_error():
    group, outcome = stable_group(), Outcome()
    first, second = group.members.values()
    join, sync = group.await_join(first), Promise()
    second.sync = sync

    for member in (first, second):
        outcome.refuse(group, member, ErrorCode.UNKNOWN_MEMBER_ID)

    assert error_of(join.response) is error_of(sync.response) is ErrorCode.UNKNOWN_MEMBER_ID
    assert (first.join, second.sync, group.joining) == (None, None, 0)
    assert outcome.decision(None).kept == [join, sync]


def test_a_refusal_can_be_said_in_every_version():
    group, outcome = stable_group(), Outcome()
    (first, _) = group.members.values()
    join, first.sync = group.await_join(first), Promise()
    sync = first.sync
    outcome.refuse(group, first, ErrorCode.FENCED_INSTANCE_ID)

    assert all(encode_message(join.response, version) for version in range(10))
    assert all(encode_message(sync.response, version) for version in range(6))


def test_a_promise_kept_by_the_same_decision_is_an_answer():
    group, outcome = stable_group(), Outcome()
    (first, _) = group.members.values()
    promise = group.await_join(first)
    response = joined(group, first)
    outcome.answer_join(group, first, response)

    decision = outcome.decision(promise)

    assert decision.response is response
    assert decision.kept == []


def test_a_decision_that_writes_is_not_firm():
    outcome = Outcome()
    assert outcome.decision(None).firm

    outcome.records.append(GroupRecord(GroupMetadataKey("g"), None))

    assert not outcome.decision(None).firm
