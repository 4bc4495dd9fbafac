"""The way of one member to its target, step by step."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.member import STABLE, UNRELEASED_PARTITIONS, UNREVOKED_PARTITIONS, Member
from andiron.groups.consumer.reconciliation import Heartbeat, Target, reconcile
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions

T, U = b"t" * 16, b"u" * 16
HELD = Member("m").at(5, STABLE, {T: {0: 5, 1: 5}})


def heartbeat(
    *taken: int, owned: dict[bytes, list[int]] | None = None, changed: bool = False, reads: bytes = T + U
):
    said = None if owned is None else [TopicPartitions(topic, share) for topic, share in owned.items()]
    subscribed = {reads[start : start + 16] for start in range(0, len(reads), 16)}
    return Heartbeat(lambda topic, partition: partition not in taken, subscribed, changed, said)


def test_a_member_at_its_target_stays_as_it_is():
    assert reconcile(HELD, Target(5, {T: (0, 1)}), heartbeat()) is HELD


def test_a_member_that_loses_nothing_takes_the_epoch_at_once_and_what_is_free():
    member = reconcile(HELD, Target(6, {T: (0, 1, 2, 3)}), heartbeat(0, 1, 3))

    assert (member.epoch, member.previous_epoch, member.state) == (6, 5, UNRELEASED_PARTITIONS)
    assert member.assigned == {T: {0: 5, 1: 5, 2: 6}}


def test_a_member_gets_the_rest_of_its_target_when_it_is_free():
    waiting = Member("m").at(6, UNRELEASED_PARTITIONS, {T: {2: 6}})

    assert reconcile(waiting, Target(6, {T: (2, 3)}), heartbeat(2, 3)).state == UNRELEASED_PARTITIONS
    member = reconcile(waiting, Target(6, {T: (2, 3)}), heartbeat(2))
    assert (member.state, member.assigned) == (STABLE, {T: {2: 6, 3: 6}})


def test_a_member_gives_up_before_it_gets():
    member = reconcile(HELD, Target(6, {T: (1, 2)}), heartbeat(0, 1))

    assert (member.epoch, member.state) == (5, UNREVOKED_PARTITIONS)
    assert (member.assigned, member.revoking) == ({T: {1: 5}}, {T: {0: 5}})


@pytest.mark.parametrize("owned", [None, {T: [0, 1]}, {T: [0]}])
def test_a_member_stays_at_its_epoch_until_it_has_revoked(owned):
    revoking = Member("m").at(5, UNREVOKED_PARTITIONS, {T: {1: 5}}, {T: {0: 5}})

    assert reconcile(revoking, Target(6, {T: (1, 2)}), heartbeat(0, 1, owned=owned)) is revoking


def test_a_member_that_has_revoked_takes_the_epoch_of_its_target():
    revoking = Member("m").at(5, UNREVOKED_PARTITIONS, {T: {1: 5}}, {T: {0: 5}})

    member = reconcile(revoking, Target(6, {T: (1, 2)}), heartbeat(0, 1, owned={T: [1]}))

    assert (member.epoch, member.state, member.revoking) == (6, STABLE, {})
    assert member.assigned == {T: {1: 5, 2: 6}}


def test_partitions_that_a_member_no_longer_owns_need_not_be_revoked():
    member = reconcile(HELD, Target(6, {T: (1,)}), heartbeat(0, 1, owned={T: [1]}))

    assert (member.epoch, member.state, member.assigned) == (6, STABLE, {T: {1: 5}})


def test_a_revoked_partition_may_be_assigned_to_its_member_again():
    revoking = Member("m").at(5, UNREVOKED_PARTITIONS, {T: {1: 5}}, {T: {0: 5}})

    member = reconcile(revoking, Target(7, {T: (0, 1)}), heartbeat(0, 1, owned={T: [1]}))

    assert (member.state, member.assigned) == (STABLE, {T: {0: 7, 1: 5}})


def test_a_topic_that_it_does_not_read_any_more_it_gives_up_although_the_target_is_older():
    holds = Member("m").at(5, STABLE, {T: {0: 5}, U: {0: 5}})

    member = reconcile(holds, Target(5, {T: (0,), U: (0,)}), heartbeat(changed=True, reads=U))

    assert (member.epoch, member.state) == (5, UNREVOKED_PARTITIONS)
    assert (member.assigned, member.revoking) == ({U: {0: 5}}, {T: {0: 5}})


def test_a_member_gives_up_unsubscribed_topics_also_while_it_revokes_others():
    holds = Member("m").at(5, UNREVOKED_PARTITIONS, {T: {1: 5}, U: {0: 5}}, {T: {0: 5}})

    member = reconcile(holds, Target(6, {}), heartbeat(changed=True, reads=U))

    assert (member.assigned, member.revoking) == ({U: {0: 5}}, {T: {0: 5, 1: 5}})


def test_a_target_for_a_topic_that_it_does_not_read_is_not_taken():
    member = reconcile(HELD, Target(6, {T: (0, 1), U: (0,)}), heartbeat(0, 1, reads=T))

    assert (member.state, member.assigned) == (STABLE, {T: {0: 5, 1: 5}})


def test_a_member_in_a_state_that_is_not_known_must_begin_anew():
    strange = HELD._replace(state=127)

    with pytest.raises(ProtocolError) as refused:
        reconcile(strange, Target(6, {T: (0,)}), heartbeat(owned={T: [0]}))

    assert refused.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert reconcile(strange, Target(6, {T: (0, 1)}), heartbeat(owned={})).is_reconciled_to(6)
