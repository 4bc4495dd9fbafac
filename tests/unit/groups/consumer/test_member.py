"""What members say of themselves, and where they stand: to records and back."""

from __future__ import annotations

from andiron.groups.consumer.member import STABLE, UNREVOKED_PARTITIONS, Member, Profile, held_since
from andiron.groups.records import (
    ConsumerGroupCurrentMemberAssignmentValue,
    CurrentTopicPartitions,
)
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

T = b"t" * 16
PROFILE = Profile("i", "r", "client", "/host", ("a", "b"), "", 60_000, "range")


def test_a_profile_comes_out_of_its_record_again():
    assert Profile.read(PROFILE.value()) == PROFILE


def test_a_heartbeat_that_says_nothing_changes_nothing():
    request = ConsumerGroupHeartbeatRequest("g", "m", 3)

    assert PROFILE.told(request, "client", "/host") is PROFILE


def test_a_heartbeat_changes_what_it_says():
    request = ConsumerGroupHeartbeatRequest("g", "m", 3, subscribed_topic_names=["c", "b", "c"])

    assert PROFILE.told(request, "client", "/elsewhere") == PROFILE._replace(
        topics=("b", "c"), client_host="/elsewhere"
    )


def test_where_a_member_stands_comes_out_of_its_record_again():
    member = Member("m").at(4, UNREVOKED_PARTITIONS, {T: {0: 2, 1: 4}}, {T: {2: 2}})

    assert Member("m").read(member.value()) == member
    assert (member.epoch, member.previous_epoch) == (4, 0)


def test_partitions_written_without_epochs_count_from_the_members():
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=5, previous_member_epoch=4, state=STABLE,
        assigned_partitions=[CurrentTopicPartitions(T, [0, 1])],
    )  # fmt: skip

    assert Member("m").read(value).assigned == {T: {0: 5, 1: 5}}


def test_a_member_knows_since_when_a_partition_is_its_own():
    member = Member("m").at(4, UNREVOKED_PARTITIONS, {T: {0: 2}}, {T: {1: 3}})

    assert [member.assigned_at(T, partition) for partition in (0, 1, 2)] == [2, 3, None]


def test_a_member_is_reconciled_when_it_is_stable_at_the_epoch():
    member = Member("m").at(4, STABLE, held_since({T: (0,)}, 4))

    assert member.is_reconciled_to(4)
    assert not member.is_reconciled_to(5)
    assert not member.at(4, UNREVOKED_PARTITIONS, {}).is_reconciled_to(4)
