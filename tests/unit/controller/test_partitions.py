"""Topics grow, and new partitions have their first state."""

from __future__ import annotations

import pytest

from andiron.controller.image import UNASSIGNED
from andiron.controller.partitions import check_brokers, first_directory
from andiron.model.errors import ErrorCode, Refused
from andiron.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from controller.cluster import Cluster, directory


def growth(name: str, count: int, assignments: list[list[int]] | None = None) -> CreatePartitionsTopic:
    given = None if assignments is None else [CreatePartitionsAssignment(each) for each in assignments]
    return CreatePartitionsTopic(name, count, given)


def run(cluster: Cluster, *topics: CreatePartitionsTopic, validate_only: bool = False) -> list[ErrorCode]:
    response = cluster.run(CreatePartitionsRequest(list(topics), validate_only=validate_only))
    assert all(result.error_message for result in response.results if result.error_code)
    return [ErrorCode.of(result.error_code) for result in response.results]


def test_new_partitions_are_numbered_on():
    cluster = Cluster(3)
    cluster.create("t", partitions=2, replicas=2)
    before = cluster.partition("t", 0)

    assert run(cluster, growth("t", 5)) == [ErrorCode.NONE]

    assert list(cluster.image.topics["t"].partitions) == [0, 1, 2, 3, 4]
    assert cluster.partition("t", 0) == before
    assert all(len(cluster.partition("t", number).replicas) == 2 for number in range(5))


def test_a_trial_answers_and_changes_nothing():
    cluster = Cluster()
    cluster.create("t")

    assert run(cluster, growth("t", 5), validate_only=True) == [ErrorCode.NONE]
    assert len(cluster.image.topics["t"].partitions) == 1


def test_new_partitions_may_be_placed_by_hand():
    cluster = Cluster(3)
    cluster.create("t")

    assert run(cluster, growth("t", 3, [[3], [2]])) == [ErrorCode.NONE]
    assert [cluster.partition("t", number).leader for number in (1, 2)] == [3, 2]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (growth("nonesuch", 2), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (growth("t", 2), ErrorCode.INVALID_PARTITIONS),
        (growth("t", 1), ErrorCode.INVALID_PARTITIONS),
        (growth("t", 0), ErrorCode.INVALID_PARTITIONS),
        (growth("t", -1), ErrorCode.INVALID_PARTITIONS),
        (growth("t", 10_003), ErrorCode.POLICY_VIOLATION),
        (growth("t", 4, [[1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (growth("t", 3, [[9]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (growth("t", 3, [[1, 2]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (growth("t", 3, [[1, 1]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (growth("t", 3, [[2]]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_that_cannot_grow_so_gets_its_error_and_stays(asked, code):
    cluster = Cluster(2, fenced=(2,))
    cluster.create("t", partitions=2)
    before = len(cluster.log)

    assert run(cluster, asked) == [code]
    assert len(cluster.log) == before


def test_a_topic_that_is_there_twice_does_not_grow():
    cluster = Cluster()
    cluster.create("t")
    cluster.create("u")

    assert run(cluster, growth("t", 2), growth("u", 2), growth("t", 3)) == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
    ]


def test_replicas_on_live_brokers_are_in_sync_from_the_start():
    cluster = Cluster(3, fenced=(2,))
    cluster.place("t", [2, 3, 1])

    partition = cluster.partition("t")

    assert (partition.isr, partition.leader) == ((3, 1), 3)


def test_a_new_replica_lies_in_the_only_directory_of_its_broker():
    cluster = Cluster(1)

    assert first_directory(cluster.image, 1) == directory(1)
    assert first_directory(cluster.image, 9) == UNASSIGNED


@pytest.mark.parametrize(
    ("replicas", "complaint"), [([], "no replicas"), ([1, 1], "more than once"), ([1, 9], "broker 9")]
)
def test_replicas_that_cannot_stand_are_refused(replicas, complaint):
    with pytest.raises(Refused, match=complaint):
        check_brokers(replicas, Cluster(2).image)
