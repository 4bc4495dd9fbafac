"""Heartbeats that contradict themselves, or come from nobody we know."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.checks import check_epoch, check_heartbeat, check_size, new_member_id
from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import STABLE, Member
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions

T = b"t" * 16
MEMBER = Member("m", epoch=5).at(6, STABLE, {T: {0: 6, 1: 6}})


def request(epoch: int = 0, **fields: object) -> ConsumerGroupHeartbeatRequest:
    made = ConsumerGroupHeartbeatRequest("g", "m", epoch)
    if epoch == 0:
        made.rebalance_timeout_ms, made.topic_partitions, made.subscribed_topic_names = 1_000, [], ["t"]
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def refusal(request: ConsumerGroupHeartbeatRequest, version: int = 1) -> ErrorCode:
    try:
        check_heartbeat(request, version, ("uniform", "range"))
    except ProtocolError as error:
        return error.code
    return ErrorCode.NONE


@pytest.mark.parametrize(
    "sound",
    [
        request(),
        request(subscribed_topic_names=None, subscribed_topic_regex="t.*"),
        request(5),
        request(-1),
        request(-2, instance_id="i"),
        request(server_assignor="range"),
    ],
)
def test_a_valid_heartbeat_passes_the_checks(sound):
    assert refusal(sound) is ErrorCode.NONE


@pytest.mark.parametrize(
    "unsound",
    [
        request(member_id=""),
        request(group_id=""),
        request(instance_id=""),
        request(rack_id=""),
        request(rebalance_timeout_ms=-1),
        request(topic_partitions=None),
        request(topic_partitions=[TopicPartitions(T, [0])]),
        request(subscribed_topic_names=None),
        request(-2),
        request(-3),
    ],
)
def test_a_heartbeat_that_contradicts_itself_is_refused(unsound):
    assert refusal(unsound) is ErrorCode.INVALID_REQUEST


def test_an_assignor_that_is_not_offered_is_refused():
    assert refusal(request(server_assignor="sticky")) is ErrorCode.UNSUPPORTED_ASSIGNOR


def test_in_version_0_a_newcomer_is_given_its_id():
    assert refusal(request(member_id=""), version=0) is ErrorCode.NONE
    assert refusal(request(5, member_id=""), version=0) is ErrorCode.INVALID_REQUEST
    assert refusal(request(-1, member_id=""), version=0) is ErrorCode.INVALID_REQUEST


def fenced(epoch: int, owned: list[int] | None) -> bool:
    try:
        check_epoch(MEMBER, epoch, None if owned is None else [TopicPartitions(T, owned)])
    except ProtocolError as error:
        assert error.code is ErrorCode.FENCED_MEMBER_EPOCH
        return True
    return False


def test_a_member_comes_with_the_epoch_that_it_was_given():
    assert not fenced(6, None)
    assert not fenced(0, None)
    assert fenced(7, None)
    assert fenced(4, [0])


def test_a_member_may_come_with_its_previous_epoch_if_all_it_owns_is_assigned():
    assert not fenced(5, [0])
    assert not fenced(5, [])
    assert fenced(5, [0, 2])
    assert fenced(5, None)


def test_a_group_that_is_full_takes_only_who_is_in_it():
    group = ConsumerGroup("g")
    group.members["m"] = MEMBER

    check_size(group, "m", 1)
    with pytest.raises(ProtocolError) as refused:
        check_size(group, "n", 1)
    assert refused.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_an_id_that_is_given_is_written_as_kafka_writes_its_own():
    chance = Chance(1)

    assert len(new_member_id(chance)) == 22
    assert new_member_id(chance) != new_member_id(chance)
