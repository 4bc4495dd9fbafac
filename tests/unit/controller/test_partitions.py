"""Topics grow, and partitions get the leader that holds what is committed."""

from __future__ import annotations

import pytest

from andiron.controller.image import NO_LEADER
from andiron.controller.partitions import elections
from andiron.controller.records import PartitionChangeRecord
from andiron.model.errors import ErrorCode
from andiron.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from controller.cluster import Cluster


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


# ── who leads ────────────────────────────────────────────────────────────────────────


def led_by(*live: int):
    return lambda broker: broker in live


def two_replicas() -> Cluster:
    """Partition 0 of t on brokers 1 and 2, led by 1."""
    cluster = Cluster(2)
    cluster.create("t", replicas=2)
    if cluster.partition("t").leader != 1:
        cluster.append([PartitionChangeRecord(0, cluster.image.topics["t"].id, replicas=[1, 2], leader=1)])
    return cluster


def test_the_next_live_replica_in_sync_takes_over():
    cluster = two_replicas()

    assert [record.leader for record in elections(cluster.image, led_by(2))] == [2]


def test_nobody_leads_when_no_replica_in_sync_is_live():
    cluster = two_replicas()
    cluster.append([PartitionChangeRecord(0, cluster.image.topics["t"].id, isr=[1])])

    cluster.append(elections(cluster.image, led_by(2)))

    assert cluster.partition("t").leader == NO_LEADER
    assert elections(cluster.image, led_by(2)) == []
    assert [record.leader for record in elections(cluster.image, led_by(1, 2))] == [1]


def test_a_leader_that_is_live_stays():
    assert elections(two_replicas().image, led_by(1)) == []


def test_a_leader_that_was_restarted_begins_a_new_epoch():
    cluster = two_replicas()
    epoch = cluster.partition("t").leader_epoch

    cluster.append(elections(cluster.image, led_by(1, 2), restarted=1))

    assert cluster.partition("t").leader == 1
    assert cluster.partition("t").leader_epoch == epoch + 1
