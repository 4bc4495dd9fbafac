"""Heartbeats, as members send them: who gets what, and when."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.group import STABLE
from andiron.groups.group import TimerKey
from andiron.groups.records import GroupRecord, encode_record
from andiron.model.errors import ErrorCode
from andiron.model.machine import TimePassed
from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from groups.consumers import (
    GROUP,
    INTERVAL_MS,
    REBALANCE_MS,
    SESSION_MS,
    Catalogue,
    Consumer,
    Coordinator,
    settle,
)


def test_the_first_member_gets_everything_at_once():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")

    response = a.beat()

    assert (response.member_id, response.member_epoch) == ("a", 2)
    assert response.heartbeat_interval_ms == INTERVAL_MS
    assert a.partitions() == [0, 1, 2, 3]
    assert coordinator.group.state == STABLE
    assert coordinator.kinds == [
        "MemberMetadata", "Metadata", "TargetAssignmentMember", "TargetAssignmentMetadata",
        "CurrentMemberAssignment",
    ]  # fmt: skip


def test_a_heartbeat_without_news_writes_nothing_and_says_nothing():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")
    a.beat()
    a.beat()

    response = a.beat()

    assert coordinator.written == []
    assert (response.member_epoch, response.assignment) == (2, None)


def test_a_full_heartbeat_is_answered_with_the_assignment():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")
    a.beat()
    a.lose_answer()

    assert a.beat().assignment is not None
    assert coordinator.written == []


def test_one_who_repeats_its_heartbeat_is_told_what_it_missed():
    """librdkafka does so when no answer comes, and does not say everything."""
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    a.beat()
    a.beat()
    repeated = b.request()
    assert repeated.topic_partitions is None
    coordinator.ask(repeated)

    b.take(coordinator.ask(repeated))

    assert b.partitions() == [2, 3]
    b.beat()
    assert b.beat().assignment is None


def test_one_who_waits_for_partitions_is_not_hurried_before_it_has_taken_those_it_was_given():
    coordinator = Coordinator(Catalogue(t=6))
    a, b, c = (Consumer(coordinator, id, "t") for id in "abc")
    settle(a, b)
    assert c.beat().heartbeat_interval_ms < INTERVAL_MS
    a.beat()
    a.beat()

    c.slow = True
    given = c.beat()
    assert given.assignment is not None and len(given.assignment.topic_partitions[0].partitions) == 1
    assert given.heartbeat_interval_ms == c.beat().heartbeat_interval_ms == INTERVAL_MS
    c.catch_up()
    assert c.beat().heartbeat_interval_ms < INTERVAL_MS


def test_a_partition_goes_over_when_its_owner_has_let_go():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    assert b.beat().member_epoch == 3
    assert b.partitions() == []

    assert a.beat().member_epoch == 2
    assert a.partitions() == [0, 1]
    b.beat()
    assert b.partitions() == []

    assert a.beat().member_epoch == 3
    b.beat()
    assert b.partitions() == [2, 3]


def test_a_topic_that_grows_is_noticed():
    coordinator = Coordinator(Catalogue(t=2))
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    settle(a, b)

    coordinator.topics.put("t", 5)
    settle(a, b)

    assert sorted(a.partitions() + b.partitions()) == [0, 1, 2, 3, 4]


def test_a_topic_that_goes_is_let_go_of():
    coordinator = Coordinator(Catalogue(t=2, u=2))
    a = Consumer(coordinator, "a", "t", "u")
    settle(a)
    u = coordinator.topics.id("u")

    coordinator.topics.remove("u")
    settle(a)

    assert u not in a.owned
    assert coordinator.group.owners == {coordinator.topics.id("t"): {0: "a", 1: "a"}}


def test_a_member_that_changes_its_subscription_gets_another_assignment():
    coordinator = Coordinator(Catalogue(t=2, u=2))
    a = Consumer(coordinator, "a", "t")
    settle(a)

    a.beat(subscribed_topic_names=["u"])
    settle(a)

    assert (a.partitions("t"), a.partitions("u")) == ([], [0, 1])


def test_members_choose_the_assignor():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", assignor="range")
    b = Consumer(coordinator, "b", "t", assignor="range")
    settle(a, b)

    assert (a.partitions(), b.partitions()) == ([0, 1], [2, 3])


# ── patterns ─────────────────────────────────────────────────────────────────────────


def test_a_pattern_means_the_topics_that_match_it():
    coordinator = Coordinator(Catalogue(t1=1, t2=1, u=1, __consumer_offsets=1))
    a = Consumer(coordinator, "a", pattern="t.*")

    a.beat()

    assert coordinator.kinds[:3] == ["MemberMetadata", "RegularExpression", "Metadata"]
    assert (a.partitions("t1"), a.partitions("t2"), a.partitions("u")) == ([0], [0], [])


def test_a_pattern_matches_topics_that_are_created_later():
    coordinator = Coordinator(Catalogue(t1=1))
    a = Consumer(coordinator, "a", pattern="t.*")
    settle(a)

    coordinator.topics.put("t2", 1)
    settle(a)

    assert a.partitions("t2") == [0]


def test_a_pattern_that_nobody_uses_any_more_is_removed():
    coordinator = Coordinator(Catalogue(t=1, u=1))
    a, b = Consumer(coordinator, "a", pattern="t"), Consumer(coordinator, "b", pattern="t")
    settle(a, b)

    a.beat(subscribed_topic_regex="u")
    assert "-RegularExpression" not in coordinator.kinds
    b.leave()
    assert "-RegularExpression" in coordinator.kinds
    assert list(coordinator.group.patterns) == ["u"]


def test_what_is_no_pattern_is_refused():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", pattern="(?=t)")

    assert coordinator.refusal(a.request()) is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert coordinator.groups == {}


# ── who is who ───────────────────────────────────────────────────────────────────────


def test_in_version_0_a_newcomer_is_given_an_id():
    coordinator = Coordinator()
    request = Consumer(coordinator, "", "t").request()

    response = coordinator.ask(request, version=0)

    assert len(response.member_id) == 22
    assert list(coordinator.group.members) == [response.member_id]


def test_a_group_that_is_not_there_is_not_found():
    coordinator = Coordinator()

    for epoch in (3, -1):
        request = ConsumerGroupHeartbeatRequest(GROUP, "a", epoch)
        assert coordinator.refusal(request) is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_stranger_is_not_known_and_one_with_a_wrong_epoch_is_fenced():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")
    a.beat()

    assert coordinator.refusal(ConsumerGroupHeartbeatRequest(GROUP, "b", 2)) is ErrorCode.UNKNOWN_MEMBER_ID
    assert coordinator.refusal(a.request(member_epoch=9)) is ErrorCode.FENCED_MEMBER_EPOCH
    assert coordinator.refusal(ConsumerGroupHeartbeatRequest(GROUP, "b", -1)) is ErrorCode.UNKNOWN_MEMBER_ID


def test_one_who_missed_the_answer_is_taken_back_if_it_holds_nothing_too_much():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    a.beat()
    a.lose_answer()
    assert coordinator.group.members["a"].epoch == 3

    assert a.beat().member_epoch == 3


def test_a_delayed_heartbeat_of_one_who_held_more_is_fenced():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    a.lose_answer()
    delayed = a.request()
    settle(a, b)

    assert coordinator.refusal(delayed) is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_full_consumer_group_takes_no_member():
    coordinator = Coordinator(group_consumer_max_size=1)
    a = Consumer(coordinator, "a", "t")
    a.beat()

    assert coordinator.refusal(Consumer(coordinator, "b", "t").request()) is ErrorCode.GROUP_MAX_SIZE_REACHED
    a.beat()


# ── static members ───────────────────────────────────────────────────────────────────


def test_a_static_member_keeps_what_it_has_over_a_restart():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t", instance_id="i"), Consumer(coordinator, "b", "t")
    settle(a, b)
    had, epoch = a.partitions(), coordinator.group.epoch

    a.leave(-2)
    settle(b)
    assert b.partitions() == [2, 3]
    again = Consumer(coordinator, "a2", "t", instance_id="i")
    again.beat()

    assert again.partitions() == had
    assert coordinator.group.epoch == epoch
    assert list(coordinator.group.members) == ["b", "a2"]
    assert coordinator.kinds == [
        "-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata",
        "MemberMetadata", "TargetAssignmentMember", "CurrentMemberAssignment",
        "CurrentMemberAssignment",
    ]  # fmt: skip


def test_a_static_member_may_come_back_under_the_same_member_id():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", instance_id="i")
    settle(a)
    a.leave(-2)

    a.beat()

    assert a.partitions() == [0, 1, 2, 3]
    assert coordinator.group.state == STABLE


def test_an_instance_id_is_taken_while_its_member_is_here():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", instance_id="i")
    a.beat()
    b = Consumer(coordinator, "b", "t", instance_id="i")

    assert coordinator.refusal(b.request()) is ErrorCode.UNRELEASED_INSTANCE_ID
    assert coordinator.refusal(b.request(member_epoch=2)) is ErrorCode.FENCED_INSTANCE_ID
    assert coordinator.refusal(a.request(member_epoch=0, rebalance_timeout_ms=1, topic_partitions=[],
                                         subscribed_topic_names=["t"])) is ErrorCode.NONE  # fmt: skip


def test_one_who_is_away_and_sends_heartbeats_all_the_same_is_fenced():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t", instance_id="i")
    a.beat()
    a.leave(-2)

    a.epoch = 2
    assert coordinator.refusal(a.request()) is ErrorCode.FENCED_MEMBER_EPOCH


# ── time ─────────────────────────────────────────────────────────────────────────────


def test_a_member_is_removed_after_its_session_timeout():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    settle(a, b)

    for _ in range(SESSION_MS // INTERVAL_MS):
        coordinator.pass_time(INTERVAL_MS)
        b.beat()

    assert list(coordinator.group.members) == ["b"]
    settle(b)
    assert b.partitions() == [0, 1, 2, 3]


def test_a_member_that_does_not_revoke_is_removed_after_its_rebalance_timeout():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    a.slow = True

    for _ in range(REBALANCE_MS // INTERVAL_MS):
        a.beat()
        b.beat()
        coordinator.pass_time(INTERVAL_MS)

    assert list(coordinator.group.members) == ["b"]
    assert coordinator.refusal(a.request()) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_revokes_in_time_stays():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    a.beat()
    b.beat()
    settle(a, b)

    for _ in range(2 * REBALANCE_MS // INTERVAL_MS):
        coordinator.pass_time(INTERVAL_MS)
        a.beat()
        b.beat()

    assert list(coordinator.group.members) == ["a", "b"]


def test_a_deadline_of_one_who_is_not_there_any_more_means_nothing():
    coordinator = Coordinator()
    for group in (GROUP, "nowhere"):
        timers = coordinator.shard._context.timers
        timers.set(TimerKey("consumer-session", group, "a"), coordinator.now)

        assert coordinator.run(TimePassed()) is None
        assert coordinator.written == []


def test_after_a_failover_members_go_on_and_silent_ones_are_noticed():
    coordinator = Coordinator()
    a, b = Consumer(coordinator, "a", "t"), Consumer(coordinator, "b", "t")
    settle(a, b)

    coordinator.reload()
    a.beat()
    assert coordinator.written == []
    coordinator.pass_time(30_000)
    a.beat()
    coordinator.pass_time(30_000)

    assert list(coordinator.group.members) == ["a"]


# ── the log ──────────────────────────────────────────────────────────────────────────


def test_a_group_is_gone_with_its_last_record():
    coordinator = Coordinator()
    a = Consumer(coordinator, "a", "t")
    a.beat()
    a.leave()

    for record in coordinator.group.tombstones():
        coordinator.log.append(encode_record(record))
    coordinator.reload()

    assert coordinator.groups == {}


def test_tombstones_of_groups_that_are_not_there_make_none():
    coordinator = Coordinator()
    Consumer(coordinator, "a", "t").beat()
    key = coordinator.written[0].key

    other = Coordinator()
    other.log.append(encode_record(GroupRecord(key, None)))
    other.reload()

    assert other.groups == {}


@pytest.mark.parametrize("group_id", ["nowhere"])
def test_a_group_that_is_not_there_cannot_be_described(group_id):
    described = Coordinator().ask(ConsumerGroupDescribeRequest([group_id]))

    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND.number
    assert described.group_id == group_id
