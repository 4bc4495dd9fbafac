"""The requests of the metadata quorum, put together: each speaks of one topic and one partition of it.

Vote, BeginQuorumEpoch, EndQuorumEpoch    the cluster · __cluster_metadata · 0 · who, in which epoch
FetchSnapshot                             the same, and a piece of what the log stood on once
Fetch                                     the same log by its id, which is the same in every cluster
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from andiron.broker.settings.listeners import Listener
from andiron.model.ids import LeaderEpoch, NodeId, Offset, TopicId, TopicPartition
from andiron.quorum.events import AskVote
from andiron.quorum.snapshot_format import SnapshotId
from andiron.replication.follower import Position
from andiron.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochRequestPartition,
    BeginQuorumEpochRequestTopic,
    LeaderEndpoint,
)
from andiron.wire.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochRequestTopic,
    ReplicaInfo,
)
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from andiron.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotRequestTopic,
)
from andiron.wire.messages.fetch_snapshot import SnapshotId as WireSnapshotId
from andiron.wire.messages.vote import VoteRequest, VoteRequestPartition, VoteRequestTopic

METADATA = TopicPartition("__cluster_metadata", 0)
TOPIC_ID = TopicId(bytes(15) + b"\x01")  # Kafka's fixed id of this topic

NO_DIRECTORY = bytes(16)
FETCH_BYTES = 8 << 20


class ReplicaKey(NamedTuple):
    """A node of the quorum, and the folder that its copy of the log is in (KIP-853)."""

    id: NodeId
    directory: bytes


def vote_request(cluster_id: str, me: NodeId, ask: AskVote, directory: bytes) -> VoteRequest:
    """Would you, or do you, vote for me? That is: the voter who has this directory, as far as one knows."""
    partition = VoteRequestPartition(
        METADATA.partition,
        ask.epoch,
        me,
        voter_directory_id=directory,
        last_offset_epoch=ask.log.epoch,
        last_offset=ask.log.offset,
        pre_vote=ask.pre_vote,
    )
    return VoteRequest(cluster_id, ask.voter, [VoteRequestTopic(METADATA.topic, [partition])])


def begin_request(
    cluster_id: str, voter: NodeId, me: NodeId, epoch: LeaderEpoch, endpoints: Sequence[Listener]
) -> BeginQuorumEpochRequest:
    """I lead, and am reached here: who was away may never have heard of me."""
    partition = BeginQuorumEpochRequestPartition(METADATA.partition, NO_DIRECTORY, me, epoch)
    return BeginQuorumEpochRequest(
        cluster_id,
        voter,
        [BeginQuorumEpochRequestTopic(METADATA.topic, [partition])],
        [LeaderEndpoint(*each) for each in endpoints],
    )


def end_request(
    cluster_id: str, me: NodeId, epoch: LeaderEpoch, successors: Sequence[NodeId]
) -> EndQuorumEpochRequest:
    """I lead no more; these should, the best first."""
    candidates = [ReplicaInfo(node, NO_DIRECTORY) for node in successors]
    partition = EndQuorumEpochRequestPartition(METADATA.partition, me, epoch, preferred_candidates=candidates)
    return EndQuorumEpochRequest(cluster_id, [EndQuorumEpochRequestTopic(METADATA.topic, [partition])])


def fetch_request(
    cluster_id: str, me: ReplicaKey, epoch: LeaderEpoch, position: Position, watermark: Offset, wait_ms: int
) -> FetchRequest:
    """What comes next, or: what is committed beyond what I know of?"""
    partition = FetchPartition(
        METADATA.partition,
        current_leader_epoch=epoch,
        fetch_offset=position.offset,
        last_fetched_epoch=position.last_epoch,
        log_start_offset=position.log_start,
        partition_max_bytes=FETCH_BYTES,
        replica_directory_id=me.directory,
        high_watermark=watermark,
    )
    return FetchRequest(
        cluster_id=cluster_id,
        replica_state=ReplicaState(me.id),
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=FETCH_BYTES,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
    )


def snapshot_request(
    cluster_id: str, me: NodeId, epoch: LeaderEpoch, id: SnapshotId, position: int, bytes_max: int
) -> FetchSnapshotRequest:
    """The next piece of a snapshot, please."""
    partition = FetchSnapshotRequestPartition(METADATA.partition, epoch, WireSnapshotId(*id), position)
    return FetchSnapshotRequest(
        cluster_id, me, bytes_max, [FetchSnapshotRequestTopic(METADATA.topic, [partition])]
    )
