"""Which partitions are being moved, whoever is asked."""

import pytest

from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from worlds.cluster_client import create, small_cluster
from worlds.node import error_of


@pytest.fixture
def moving():
    """Partition 0 of t is on its way to broker 4, which is away."""
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    create(cluster, "t", [(1, 2, 3), (2, 3, 1)])
    cluster.kill(4)
    cluster.until(lambda: not cluster.image.is_live(4))
    part = ReassignablePartition(0, [1, 2, 4])
    cluster.answer(1, AlterPartitionReassignmentsRequest(topics=[ReassignableTopic("t", [part])]))
    return cluster


def listed(answer):
    assert error_of(answer) == "NONE"
    return {
        (topic.name, part.partition_index): (
            sorted(part.replicas),
            part.adding_replicas,
            part.removing_replicas,
        )
        for topic in answer.topics
        for part in topic.partitions
    }


@pytest.mark.parametrize("number", [1, 2, 3])
def test_whoever_is_asked_tells_what_comes_and_what_goes(moving, number):
    answer = moving.answer(number, ListPartitionReassignmentsRequest())

    assert listed(answer) == {("t", 0): ([1, 2, 3, 4], [4], [3])}


@pytest.mark.parametrize(
    "topic, partitions, count", [("t", [0, 1], 1), ("t", [1], 0), ("nope", [0], 0), ("t", [7], 0)]
)
def test_some_can_be_asked_for(moving, topic, partitions, count):
    wanted = [ListPartitionReassignmentsTopics(topic, partitions)]

    assert len(listed(moving.answer(2, ListPartitionReassignmentsRequest(topics=wanted)))) == count


def test_what_is_done_is_not_listed(moving):
    moving.start(4)
    moving.until(lambda: 4 in moving.image_of("t").isr)
    moving.pass_time(500)

    assert listed(moving.answer(2, ListPartitionReassignmentsRequest())) == {}


def test_without_a_controller_it_takes_its_time_and_says_so(moving):
    moving.kill(1, 3)

    answer = moving.answer(2, ListPartitionReassignmentsRequest(timeout_ms=1_000))

    assert error_of(answer) == "REQUEST_TIMED_OUT"
