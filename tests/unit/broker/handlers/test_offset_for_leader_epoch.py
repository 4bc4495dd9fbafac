"""Where an epoch ended: what a consumer asks before it goes on after a change of leader."""

import pytest

from andiron.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from worlds.node import error_of


def ask(node, epoch, topic="t", partition=0, current=-1, version=4):
    wanted = OffsetForLeaderTopic(topic, [OffsetForLeaderPartition(partition, current, epoch)])
    return node.ask(OffsetForLeaderEpochRequest(-1, [wanted]), version).topics[0].partitions[0]


def end(node, epoch, **how):
    found = ask(node, epoch, **how)
    assert error_of(found) == "NONE"
    return found.leader_epoch, found.end_offset


@pytest.fixture
def crashed_twice(node):
    """Epochs 0, 2 and 4 with two, one and three records: in those between nobody led."""
    node.create("t")
    for count in (2, 1, 3):
        node.produce("t", *[b"x"] * count)
        if count < 3:
            node.restart(clean=False)
    return node


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_epoch_ends_where_the_next_one_begins(crashed_twice, version):
    assert [end(crashed_twice, epoch, version=version) for epoch in (0, 2, 4)] == [(0, 2), (2, 3), (4, 6)]


@pytest.mark.parametrize("epoch", [-1, 5, 99])
def test_an_epoch_that_never_was(crashed_twice, epoch):
    assert end(crashed_twice, epoch) == (-1, -1)


def test_the_present_epoch_ends_with_the_log_though_it_has_written_nothing(node):
    node.create("t")
    assert end(node, 0) == (0, 0)
    node.produce("t", b"a")
    node.restart(clean=False)

    assert (end(node, 0), end(node, 2)) == ((0, 1), (2, 1))


@pytest.mark.parametrize(("topic", "partition"), [("nope", 0), ("t", 3)])
def test_a_partition_that_is_not_there(crashed_twice, topic, partition):
    found = ask(crashed_twice, 0, topic, partition)

    assert (error_of(found), found.end_offset) == ("UNKNOWN_TOPIC_OR_PARTITION", -1)


def test_the_epoch_that_the_client_knows_is_checked(crashed_twice):
    codes = [error_of(ask(crashed_twice, 0, current=current)) for current in (3, 4, 5)]

    assert codes == ["FENCED_LEADER_EPOCH", "NONE", "UNKNOWN_LEADER_EPOCH"]
