"""A broker says where its replicas lie."""

from __future__ import annotations

import pytest

from andiron.controller.image import LOST
from andiron.model.errors import ErrorCode, Refused
from andiron.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectory,
    AssignReplicasToDirsRequestPartition,
    AssignReplicasToDirsRequestTopic,
)
from controller.cluster import Cluster, directory, joined


def two() -> Cluster:
    """Broker 2 has two directories; partition 0 of t is on 2 and 1."""
    cluster = joined(1)
    cluster.join(2, log_dirs=[directory(20), directory(21)])
    cluster.place("t", [2, 1])
    return cluster


def assign(cluster: Cluster, where: bytes, *, broker: int = 2, topic: bytes | None = None, number: int = 0):
    part = AssignReplicasToDirsRequestPartition(number)
    named = AssignReplicasToDirsRequestTopic(topic or cluster.image.topics["t"].id, [part])
    epoch = cluster.image.brokers[broker].epoch
    asked = [AssignReplicasToDirsRequestDirectory(where, [named])]
    response = cluster.run(AssignReplicasToDirsRequest(broker, epoch, asked))
    return ErrorCode.of(response.directories[0].topics[0].partitions[0].error_code)


def test_a_broker_with_several_directories_says_which_it_has_chosen():
    cluster = two()
    assert cluster.partition("t").directories == (bytes(16), directory(1))

    assert assign(cluster, directory(21)) is ErrorCode.NONE

    partition = cluster.partition("t")
    assert (partition.directories, partition.leader) == ((directory(21), directory(1)), 2)


@pytest.mark.parametrize("where", [LOST, directory(99)])
def test_what_lies_where_nothing_works_is_led_by_others(where):
    cluster = two()

    assert assign(cluster, where) is ErrorCode.NONE

    assert (cluster.partition("t").leader, cluster.partition("t").isr) == (1, (1,))


def test_what_is_not_there_is_refused():
    cluster = two()
    cluster.join(3)

    assert assign(cluster, directory(21), topic=b"?" * 16) is ErrorCode.UNKNOWN_TOPIC_ID
    assert assign(cluster, directory(21), number=7) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert assign(cluster, directory(3), broker=3) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_broker_in_another_life_is_refused():
    with pytest.raises(Refused, match="STALE_BROKER_EPOCH"):
        two().run(AssignReplicasToDirsRequest(2, 0, []))
