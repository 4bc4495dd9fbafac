"""FetchSnapshot (key 59), versions 0-1: a part of a metadata snapshot, for a node behind the log's start (KIP-630).

Only the leader answers, in its own epoch, and that the node asks counts as a sign of life, as a fetch does. Pieces are
no larger than controller.quorum.fetch.snapshot.max.bytes, whatever is asked for.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_requests import METADATA, TOPIC_ID
from andiron.broker.node.request import Request
from andiron.broker.replicas.leader_hints import LeaderHints
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import LeaderEpoch, NodeId, Offset
from andiron.quorum.snapshot_format import SnapshotId
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotResponse,
    FetchSnapshotResponsePartition,
    FetchSnapshotResponseTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
)

API = ApiKey.FETCH_SNAPSHOT
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[FetchSnapshotRequest]) -> FetchSnapshotResponse:
    body = request.body
    if body.cluster_id not in (None, broker.cluster_id):
        return FetchSnapshotResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID.number)
    hints = LeaderHints(broker, request.listener)
    topics = []
    for topic in body.topics:
        pieces = []
        for asked in topic.partitions:
            try:
                pieces.append(_piece(broker, request, topic.name, asked))
            except ProtocolError as error:
                pieces.append(_refused(asked, error.code, hints))
        topics.append(FetchSnapshotResponseTopic(topic.name, pieces))
    nodes = [NodeEndpoint(each.node_id, each.host, each.port) for each in hints.endpoints()]
    return FetchSnapshotResponse(topics=topics, node_endpoints=nodes)


def _piece(
    broker: Broker, request: Request[FetchSnapshotRequest], topic: str, asked: FetchSnapshotRequestPartition
) -> FetchSnapshotResponsePartition:
    if (topic, asked.partition) != METADATA:
        raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is {METADATA} and no other")
    raft = broker.raft
    raft.partition.leader()
    raft.partition.check_epoch(asked.current_leader_epoch)
    broker.controller.heard_of(NodeId(request.body.replica_id), request.conn, request.now)
    id = SnapshotId(Offset(asked.snapshot_id.end_offset), LeaderEpoch(asked.snapshot_id.epoch))
    held = raft.snapshots.table.get(id)
    if held is None:
        raise ErrorCode.SNAPSHOT_NOT_FOUND.error(f"there is no snapshot {id}")
    if not 0 <= asked.position < held.size:
        raise ErrorCode.POSITION_OUT_OF_RANGE.error(f"snapshot {id} has {held.size} bytes")
    length = min(request.body.max_bytes, broker.settings.quorum.controller_quorum_fetch_snapshot_max_bytes)
    try:
        piece = raft.snapshots.read(id, asked.position, max(1, length))
    except OSError as error:
        raise ErrorCode.KAFKA_STORAGE_ERROR.error(str(error)) from error
    return FetchSnapshotResponsePartition(
        asked.partition,
        snapshot_id=asked.snapshot_id,
        size=held.size,
        position=asked.position,
        unaligned_records=piece,
    )


def _refused(
    asked: FetchSnapshotRequestPartition, code: ErrorCode, hints: LeaderHints
) -> FetchSnapshotResponsePartition:
    refused = FetchSnapshotResponsePartition(asked.partition, code.number, asked.snapshot_id)
    if code in (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
    ):
        hint = hints.leader_of("", TOPIC_ID, asked.partition)
        refused.current_leader = None if hint is None else LeaderIdAndEpoch(*hint)
    return refused
