"""A leader says who is in sync, and is believed if it is up to date."""

from __future__ import annotations

import pytest

from andiron.controller.image import NO_LEADER
from andiron.controller.records import PartitionChangeRecord
from andiron.model.errors import ErrorCode, Refused
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    AlterPartitionResponsePartition,
    BrokerState,
)
from controller.cluster import Cluster, joined


def three() -> Cluster:
    """Partition 0 of t on brokers 1, 2 and 3, all in sync, led by 1."""
    cluster = joined(3)
    cluster.place("t", [1, 2, 3], min_insync_replicas="2")
    return cluster


def test_the_isr_is_what_the_leader_says():
    cluster = three()

    answer = cluster.alter("t", [1, 3])

    assert answer == AlterPartitionResponsePartition(
        0, leader_id=1, leader_epoch=0, isr=[1, 3], partition_epoch=1
    )
    assert (cluster.partition("t").isr, cluster.partition("t").partition_epoch) == ((1, 3), 1)


def test_version_2_names_the_members_without_their_epochs():
    cluster = three()

    cluster.alter("t", [], new_isr=[1, 2])

    assert cluster.partition("t").isr == (1, 2)


def test_who_leaves_when_too_few_stay_is_eligible_until_it_is_back():
    cluster = three()
    cluster.alter("t", [1, 2])
    cluster.alter("t", [1])
    assert cluster.partition("t").elr == (2,)

    cluster.alter("t", [1, 2])

    assert cluster.partition("t").elr == ()


def test_asking_for_what_is_already_so_writes_nothing():
    cluster = three()
    before = len(cluster.log)

    assert cluster.alter("t", [1, 2, 3]).error_code == 0
    assert len(cluster.log) == before


@pytest.mark.parametrize(
    ("isr", "fields", "code"),
    [
        ([1], {"leader_epoch": 1}, ErrorCode.NOT_CONTROLLER),
        ([1], {"partition_epoch": 99}, ErrorCode.NOT_CONTROLLER),
        ([1], {"leader_epoch": -1}, ErrorCode.FENCED_LEADER_EPOCH),
        ([1], {"partition_epoch": -1}, ErrorCode.INVALID_UPDATE_VERSION),
        ([1], {"by": 2}, ErrorCode.INVALID_REQUEST),
        ([1, 9], {}, ErrorCode.INVALID_REQUEST),
        ([1, 1], {}, ErrorCode.INVALID_REQUEST),
        ([2, 3], {}, ErrorCode.INVALID_REQUEST),
        ([], {}, ErrorCode.INVALID_REQUEST),
        ([1], {"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ([1, 2], {"leader_recovery_state": 1}, ErrorCode.INVALID_REQUEST),
        ([], {"new_isr_with_epochs": [BrokerState(1), BrokerState(2, 0)]}, ErrorCode.INELIGIBLE_REPLICA),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(isr, fields, code):
    cluster = three()
    before = len(cluster.log)

    assert cluster.alter("t", isr, **fields).error_code == code.number
    assert len(cluster.log) == before


def test_a_member_is_let_in_in_the_life_that_the_leader_has_seen():
    cluster = three()
    cluster.alter("t", [1])
    epochs = [BrokerState(each, cluster.image.brokers[each].epoch) for each in (1, 2)]

    assert cluster.alter("t", [], new_isr_with_epochs=epochs).error_code == 0
    assert cluster.partition("t").isr == (1, 2)


@pytest.mark.parametrize("wish", [{"want_fence": True}, {"want_shut_down": True}])
def test_a_broker_that_is_not_live_is_not_in_sync(wish):
    cluster = three()
    cluster.place("led-by-3", [3])
    cluster.beat(3, **wish)

    assert cluster.alter("t", [1, 2, 3]).error_code == ErrorCode.INELIGIBLE_REPLICA.number


def test_a_leader_says_when_it_has_recovered():
    cluster = joined(2)
    cluster.place("t", [1, 2], unclean_leader_election_enable="true")
    cluster.beat(2, want_fence=True)
    cluster.beat(1, want_fence=True)
    cluster.beat(2)
    assert (cluster.partition("t").leader, cluster.partition("t").recovering) == (2, True)

    assert cluster.alter("t", [2], leader_recovery_state=1).leader_recovery_state == 1
    assert cluster.alter("t", [2], leader_recovery_state=0).leader_recovery_state == 0

    assert not cluster.partition("t").recovering


def test_what_is_not_known_is_refused():
    cluster = three()
    topic = cluster.image.topics["t"].id
    asked = [
        AlterPartitionRequestTopic(b"?" * 16, [AlterPartitionRequestPartition(0)]),
        AlterPartitionRequestTopic(topic, [AlterPartitionRequestPartition(7)]),
    ]

    response = cluster.run(AlterPartitionRequest(1, cluster.image.brokers[1].epoch, asked))

    codes = [topic.partitions[0].error_code for topic in response.topics]
    assert codes == [ErrorCode.UNKNOWN_TOPIC_ID.number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number]


@pytest.mark.parametrize(("broker", "epoch"), [(1, 0), (9, 0)])
def test_only_a_registered_broker_is_heard(broker, epoch):
    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        three().run(AlterPartitionRequest(broker, epoch, []))


def test_a_leader_that_is_moved_away_by_the_last_step_is_told_so():
    cluster = three()
    cluster.join(4)
    topic = cluster.image.topics["t"].id
    moving = PartitionChangeRecord(
        0, topic, replicas=[4, 2, 3, 1], adding_replicas=[4], removing_replicas=[1],
        directories=[bytes(16)] * 4,
    )  # fmt: skip
    cluster.append([moving])

    answer = cluster.alter("t", [1, 2, 3, 4])

    assert answer.error_code == ErrorCode.NEW_LEADER_ELECTED.number
    partition = cluster.partition("t")
    assert (partition.replicas, partition.isr, partition.leader) == ((4, 2, 3), (2, 3, 4), 4)
    assert not partition.reassigning


def test_nobody_leads_what_has_no_leader():
    cluster = three()
    for broker in (1, 2, 3):
        cluster.beat(broker, want_fence=True)
    assert cluster.partition("t").leader == NO_LEADER
    epoch = cluster.partition("t").leader_epoch

    assert cluster.alter("t", [1], by=1, leader_epoch=epoch).error_code == ErrorCode.INVALID_REQUEST.number
