"""Replicas are moved while the partition goes on, and nothing committed is left behind."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from controller.cluster import Cluster, directory, joined


def three() -> Cluster:
    """Partition 0 of t on brokers 1, 2 and 3 of five."""
    cluster = joined(5)
    cluster.place("t", [1, 2, 3])
    return cluster


def move(
    cluster: Cluster, replicas: list[int] | None, topic: str = "t", number: int = 0, **fields
) -> ErrorCode:
    asked = [ReassignableTopic(topic, [ReassignablePartition(number, replicas)])]
    response = cluster.run(AlterPartitionReassignmentsRequest(topics=asked, **fields))
    result = response.responses[0].partitions[0]
    assert bool(result.error_code) == bool(result.error_message)
    return ErrorCode.of(result.error_code)


def under_way(cluster: Cluster):
    partition = cluster.partition("t")
    return partition.replicas, partition.adding, partition.removing


def test_old_and_new_replicas_stand_side_by_side_until_the_new_are_in_sync():
    cluster = three()

    assert move(cluster, [4, 5, 3]) is ErrorCode.NONE
    assert under_way(cluster) == ((4, 5, 3, 1, 2), (4, 5), (1, 2))
    partition = cluster.partition("t")
    assert (partition.leader, partition.leader_epoch, partition.isr) == (1, 0, (1, 2, 3))
    assert partition.directories == tuple(map(directory, (4, 5, 3, 1, 2)))

    assert cluster.alter("t", [1, 2, 3, 4]).error_code == 0
    assert under_way(cluster) == ((4, 5, 3, 1, 2), (4, 5), (1, 2))
    assert cluster.alter("t", [1, 2, 3, 4, 5]).error_code == ErrorCode.NEW_LEADER_ELECTED.number

    partition = cluster.partition("t")
    assert under_way(cluster) == ((4, 5, 3), (), ())
    assert (partition.leader, partition.leader_epoch, partition.isr) == (4, 1, (3, 4, 5))
    assert partition.directories == tuple(map(directory, (4, 5, 3)))


def test_the_leader_stays_if_it_may():
    cluster = three()
    move(cluster, [4, 1])

    assert cluster.alter("t", [1, 2, 3, 4]).leader_epoch == 1

    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (1, (1, 4))


def test_taking_replicas_away_is_done_at_once():
    cluster = three()

    assert move(cluster, [2, 1]) is ErrorCode.NONE
    assert under_way(cluster) == ((2, 1), (), ())
    assert (cluster.partition("t").leader, cluster.partition("t").leader_epoch) == (1, 1)


def test_replicas_may_be_put_in_another_order():
    cluster = three()

    assert move(cluster, [3, 2, 1]) is ErrorCode.NONE

    partition = cluster.partition("t")
    assert (partition.replicas, partition.leader, partition.leader_epoch) == ((3, 2, 1), 1, 0)
    assert partition.directories == tuple(map(directory, (3, 2, 1)))


def test_what_is_so_already_writes_nothing():
    cluster = three()
    before = len(cluster.log)

    assert move(cluster, [1, 2, 3]) is ErrorCode.NONE
    assert len(cluster.log) == before


def test_a_move_may_be_taken_back():
    cluster = three()
    move(cluster, [4, 2, 3])
    cluster.alter("t", [1, 2, 3])

    assert move(cluster, None) is ErrorCode.NONE

    assert cluster.partition("t").replicas == (2, 3, 1)
    assert not cluster.partition("t").reassigning
    assert move(cluster, None) is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_another_target_counts_from_the_replicas_before_the_first():
    cluster = three()
    move(cluster, [4, 2, 3])

    assert move(cluster, [5, 2, 3]) is ErrorCode.NONE
    assert under_way(cluster) == ((5, 2, 3, 1), (5,), (1,))


def test_taking_a_move_back_does_not_take_the_last_in_sync():
    cluster = joined(3)
    cluster.place("t", [1])
    move(cluster, [2, 3])
    cluster.alter("t", [1, 2])
    cluster.beat(1, want_fence=True)
    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (2, (2,))

    assert move(cluster, None) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert move(cluster, [3]) is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_move_goes_on_when_a_broker_is_fenced_and_comes_back():
    cluster = three()
    move(cluster, [4, 2, 3])
    cluster.beat(4, want_fence=True)
    cluster.beat(4)

    assert cluster.alter("t", [1, 2, 3, 4]).error_code == ErrorCode.NEW_LEADER_ELECTED.number
    assert under_way(cluster) == ((4, 2, 3), (), ())


@pytest.mark.parametrize(
    ("replicas", "fields", "code"),
    [
        ([], {}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 1], {}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 9], {}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, -1], {}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ([1, 2], {"allow_replication_factor_change": False}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ([1], {"topic": "nonesuch"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ([1], {"number": 7}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, {}, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(replicas, fields, code):
    cluster = three()
    before = len(cluster.log)

    assert move(cluster, replicas, **fields) is code
    assert len(cluster.log) == before


def test_the_number_of_replicas_counts_without_those_that_are_only_coming():
    cluster = three()
    move(cluster, [4, 5, 3])

    assert move(cluster, [1, 2, 5], allow_replication_factor_change=False) is ErrorCode.NONE


def test_moves_under_way_are_listed_all_or_by_name():
    cluster = three()
    cluster.place("still", [1])
    move(cluster, [4, 2, 3])
    ongoing = [OngoingTopicReassignment("t", [OngoingPartitionReassignment(0, [4, 2, 3, 1], [4], [1])])]

    def listed(*names: str):
        asked = [ListPartitionReassignmentsTopics(name, [0, 7]) for name in names]
        return cluster.run(ListPartitionReassignmentsRequest(topics=asked or None)).topics

    assert listed() == ongoing
    assert listed("still", "nonesuch", "t") == ongoing
    assert listed("still") == []
