"""A node by itself, and what strangers ask of its controller."""

import pytest

from andiron.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
)
from andiron.wire.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochRequestTopic,
)
from andiron.wire.messages.vote import VoteRequest, VoteRequestPartition, VoteRequestTopic
from worlds.controllers import METADATA
from worlds.node import SmallNode, error_of

LAST = (1 << 31) - 1


def vote(candidate, epoch):
    part = VoteRequestPartition(0, epoch, candidate, last_offset_epoch=epoch - 1, last_offset=1 << 40)
    return VoteRequest(topics=[VoteRequestTopic(METADATA, [part])])


def begin(leader, epoch):
    part = BeginQuorumEpochRequestPartition(0, leader_id=leader, leader_epoch=epoch)
    return BeginQuorumEpochRequest(topics=[BeginQuorumEpochRequestTopic(METADATA, [part])])


def end(leader, epoch):
    part = EndQuorumEpochRequestPartition(0, leader, epoch)
    return EndQuorumEpochRequest(topics=[EndQuorumEpochRequestTopic(METADATA, [part])])


@pytest.mark.parametrize("ask", [vote, begin, end])
@pytest.mark.parametrize("who", [1, 2, 66])
@pytest.mark.parametrize("epoch", [2, LAST])
def test_a_node_by_itself_is_not_deposed_by_strangers_and_starts_again(ask, who, epoch):
    node = SmallNode()
    node.create("t")
    node.connect(9, "CONTROLLER")
    member = node.node.broker.raft

    answer = node.ask(ask(who, epoch), conn=9)

    assert error_of(answer.topics[0].partitions[0]) in ("INVALID_REQUEST", "INCONSISTENT_VOTER_SET")
    node.advance(60_000)
    assert (member.leads, member.quorum.epoch) == (True, 1)
    node.restart(clean=False)
    assert node.produce("t", b"still here").error_code == 0
