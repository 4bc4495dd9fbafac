"""AlterPartitionReassignments, whoever is asked; what becomes of it is told in controller/reassignments.py."""

import pytest

from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from worlds.cluster_client import isr
from worlds.controllers import NODES, every_version_of
from worlds.node import error_of


def moving(replicas, topic="t", index=0, timeout_ms=30_000, **how):
    part = ReassignablePartition(index, replicas)
    return AlterPartitionReassignmentsRequest(timeout_ms, topics=[ReassignableTopic(topic, [part])], **how)


def said(answer):
    assert error_of(answer) == "NONE"
    return error_of(answer.responses[0].partitions[0])


@every_version_of(AlterPartitionReassignmentsRequest)
@pytest.mark.parametrize("number", NODES)
def test_whoever_is_asked_the_replicas_move(three, number, version):
    assert said(three.ask_as_client(number, moving([1, 2]), version)) == "NONE"

    three.cluster.until(lambda: three.cluster.image_of("t").replicas == (1, 2), ms=5_000)
    assert isr(three.cluster, "t") == [1, 2]


@pytest.mark.parametrize(
    "request_, code",
    [
        (moving([1, 9]), "INVALID_REPLICA_ASSIGNMENT"),
        (moving([1, 1]), "INVALID_REPLICA_ASSIGNMENT"),
        (moving([]), "INVALID_REPLICA_ASSIGNMENT"),
        (moving([1], "nope"), "UNKNOWN_TOPIC_OR_PARTITION"),
        (moving([1], index=7), "UNKNOWN_TOPIC_OR_PARTITION"),
        (moving(None), "NO_REASSIGNMENT_IN_PROGRESS"),
    ],
)
def test_what_cannot_be_is_refused_for_the_partition(three, request_, code):
    assert said(three.ask_as_client(2, request_)) == code


def test_a_request_may_forbid_that_the_factor_changes(three):
    assert said(three.ask_as_client(2, moving([1, 2], allow_replication_factor_change=False))) == (
        "INVALID_REPLICATION_FACTOR"
    )


def test_without_a_controller_it_takes_its_time_and_says_so(three):
    three.cluster.kill(*[n for n in NODES if n != 2])

    answer = three.ask_as_client(2, moving([1, 2], timeout_ms=1_000))

    assert error_of(answer) == "REQUEST_TIMED_OUT"
    assert answer.error_message
