"""Markers get to whoever leads each partition, and what became of each is told."""

import pytest

from andiron.broker.coordinators.marker_sender import MarkerSender
from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.partition import Marker
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from worlds.cluster_client import create, small_cluster

NODES = [1, 2, 3]
PARTS = [TopicPartition("t", index) for index in range(3)]
MARKER = Marker(producer_id=7, producer_epoch=0, committed=True, coordinator_epoch=0, transaction_version=0)


@pytest.fixture
def cluster():
    made = small_cluster()
    create(made, "t", [(1, 2, 3), (2, 3, 1), (3, 1, 2)])
    return made


def send(cluster, number, *partitions, marker=MARKER):
    """What becomes of markers that a node sends."""
    broker, heard = cluster.broker(number), []
    sender = MarkerSender(number, broker.metadata, broker.calls, broker.markers)
    broker.waiting.later(sender.send(marker, list(partitions), cluster.now), heard.append)
    cluster.until(lambda: heard)
    return heard[0]


def ends(cluster):
    return [cluster.partition(cluster.leader_of(*name), *name).log.end for name in PARTS]


@pytest.mark.parametrize("number", NODES)
def test_each_marker_is_written_by_the_leader_of_its_partition(cluster, number):
    outcome = send(cluster, number, *PARTS)

    assert outcome == dict.fromkeys(PARTS, ErrorCode.NONE)
    assert ends(cluster) == [1, 1, 1]


def test_a_partition_that_is_in_no_metadata_needs_none(cluster):
    gone = TopicPartition("gone", 0)

    assert send(cluster, 1, PARTS[1], gone) == {
        PARTS[1]: ErrorCode.NONE,
        gone: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_a_partition_that_is_moved_away_with_a_marker_that_is_not_committed_is_to_be_tried_again(cluster):
    broker, heard = cluster.broker(1), []

    class Moved:
        def write(self, marker, partitions, now):
            return Wait.over(lambda: dict.fromkeys(partitions, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))

    sender = MarkerSender(1, broker.metadata, broker.calls, Moved())
    broker.waiting.later(sender.send(MARKER, [PARTS[0]], cluster.now), heard.append)

    assert heard == [{PARTS[0]: ErrorCode.NOT_LEADER_OR_FOLLOWER}]


def test_what_has_no_leader_is_to_be_tried_again(cluster):
    create(cluster, "u", (2,), min_insync_replicas=1)
    cluster.kill(2)
    cluster.until(lambda: cluster.leader_of("u") == -1)

    outcome = send(cluster, 1, TopicPartition("u", 0))

    assert outcome == {TopicPartition("u", 0): ErrorCode.LEADER_NOT_AVAILABLE}


def test_what_is_not_answered_is_told_for_the_partitions_there_and_no_others(cluster):
    cluster.cut |= {(1, 2), (2, 1)}
    outcome = send(cluster, 1, *PARTS)

    assert outcome[PARTS[1]] is not ErrorCode.NONE
    assert outcome[PARTS[2]] is ErrorCode.NONE or 2 in cluster.image_of("t", 2).isr


def test_a_leader_that_has_moved_on_says_so_and_it_is_tried_again(cluster):
    """That a broker knows nothing of a partition may mean that it does not know yet: no marker may be lost by that."""
    broker = cluster.broker(1)
    there = broker.image.topics["t"]
    real = there.partitions[1]
    there.partitions[1] = real._replace(leader=3)  # what this node thinks

    outcome = send(cluster, 1, PARTS[1])
    there.partitions[1] = real

    assert outcome == {PARTS[1]: ErrorCode.NOT_LEADER_OR_FOLLOWER}


def test_a_marker_that_is_refused_is_told_with_its_code(cluster):
    outcome = send(cluster, 1, PARTS[1], marker=MARKER._replace(producer_id=-1))

    assert outcome == {PARTS[1]: ErrorCode.INVALID_PRODUCER_ID_MAPPING}
