"""A topic grows."""

import pytest

from andiron.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from worlds.node import error_of


def grow(node, count, topic="t", version=3, validate_only=False, assignments=None):
    wanted = [CreatePartitionsTopic(topic, count, assignments)]
    return node.ask(CreatePartitionsRequest(wanted, 1_000, validate_only), version).results[0]


@pytest.mark.parametrize("version", range(4))
def test_new_partitions_can_be_used_at_once_and_old_ones_keep_their_records(node, version):
    node.create("t", retention_ms=5)
    node.produce("t", b"old")

    assert error_of(grow(node, 3, version=version)) == "NONE"

    assert [node.produce("t", b"new", partition=number).base_offset for number in range(3)] == [1, 0, 0]
    assert node.values("t") == [b"old", b"new"]
    assert node.log("t", 2).settings.retention_ms == 5


def test_they_are_there_after_a_restart(node):
    node.create("t")
    grow(node, 3)
    node.produce("t", b"a", partition=2)

    node.restart()

    assert node.values("t", 2) == [b"a"]


def test_validate_only_adds_none(node):
    node.create("t")

    assert error_of(grow(node, 3, validate_only=True)) == "NONE"
    assert len(node.node.broker.replica_manager) == 1


@pytest.mark.parametrize(
    ("count", "code"), [(2, "INVALID_PARTITIONS"), (1, "INVALID_PARTITIONS"), (0, "INVALID_PARTITIONS")]
)
def test_a_topic_does_not_shrink_or_stay(node, count, code):
    node.create("t", partitions=2)

    assert error_of(grow(node, count)) == code


def test_a_topic_that_is_not_there(node):
    assert error_of(grow(node, 3, topic="nope")) == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("brokers", "code"),
    [([[1]], "NONE"), ([[9]], "INVALID_REPLICA_ASSIGNMENT"), ([[1], [1]], "INVALID_REPLICA_ASSIGNMENT")],
)
def test_replicas_chosen_by_hand(node, brokers, code):
    node.create("t")

    chosen = [CreatePartitionsAssignment(each) for each in brokers]

    assert error_of(grow(node, 2, assignments=chosen)) == code
