"""Replicas that move to other brokers, with all their records, while clients go on."""

import pytest

from andiron.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from worlds.cluster_client import (
    create,
    in_log,
    isr,
    move,
    read,
    ready,
    small_cluster,
    write,
)


@pytest.fixture
def four():
    """Four brokers and a controller of its own."""
    return small_cluster((1, 2, 3, 4, 9), voters=(9,), without_broker=(9,))


def moving(cluster, node=1):
    answer = cluster.answer(node, ListPartitionReassignmentsRequest())
    return {
        (topic.name, part.partition_index): (part.adding_replicas, part.removing_replicas)
        for topic in answer.topics
        for part in topic.partitions
    }


def test_a_replica_moves_to_another_broker_with_all_its_records(four):
    create(four, "t", (1, 2, 3))
    for number in range(20):
        write(four, "t", b"%d" % number)

    assert move(four, (1, 2, 4)) == "NONE"
    four.until(lambda: not moving(four))
    four.pass_time(1_000)

    assert sorted(four.image_of("t").replicas) == isr(four, "t") == [1, 2, 4]
    assert in_log(four, 4, "t") == [b"%d" % number for number in range(20)]
    assert four.partition(3, "t") is None


def test_the_leader_itself_can_be_moved_away(four):
    create(four, "t", (1, 2, 3))
    write(four, "t", b"a")

    assert move(four, (2, 3, 4)) == "NONE"
    four.until(lambda: not moving(four))
    four.pass_time(1_000)

    assert four.leader_of("t") in (2, 3, 4)
    assert four.partition(1, "t") is None
    assert write(four, "t", b"b") == 1
    assert read(four, "t") == [b"a", b"b"]


def test_a_move_is_seen_while_it_lasts_and_can_be_called_off(four):
    create(four, "t", (1, 2, 3))
    four.kill(4)
    four.until(lambda: not four.image.is_live(4))

    assert move(four, (1, 2, 4)) == "NONE"
    assert moving(four) == {("t", 0): ([4], [3])}
    assert move(four, None) == "NONE"

    assert moving(four) == {}
    assert isr(four, "t") == [1, 2, 3]


def test_a_move_goes_on_under_another_controller():
    cluster = small_cluster((1, 2, 3, 4), voters=(1, 2, 3))
    create(cluster, "t", (1, 2, 3))
    write(cluster, "t", b"a")
    cluster.kill(4)
    cluster.until(lambda: not cluster.image.is_live(4))
    before = cluster.controller
    assert (
        move(cluster, (1, 2, 4) if before == 3 else (before, 4, *[n for n in (1, 2, 3) if n != before][:1]))
        == "NONE"
    )

    cluster.stop(before)
    cluster.start(before)
    cluster.start(4)
    ready(cluster)
    cluster.until(lambda: not moving(cluster))

    assert 4 in isr(cluster, "t")
    assert in_log(cluster, 4, "t") == [b"a"]


def test_a_factor_grows_and_shrinks_by_moving(four):
    create(four, "t", (1,), min_insync_replicas=1)
    write(four, "t", b"a")

    assert move(four, (1, 2, 3)) == "NONE"
    four.until(lambda: not moving(four))
    assert isr(four, "t") == [1, 2, 3]
    assert move(four, (2,)) == "NONE"
    four.until(lambda: not moving(four))

    assert four.image_of("t").replicas == (2,)
    assert read(four, "t") == [b"a"]
