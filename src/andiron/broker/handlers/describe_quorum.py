"""DescribeQuorum (key 55), versions 0-2: leader, voters and observers of the metadata log, and their lag (KIP-595).

The leader knows; a broker passes the question on. Voters that are in everybody's settings (kraft.version 0) are
known by their ids alone: none of them is told with a directory.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.leader_forwarding import at_quorum_leader
from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.node.patience import DESCRIBE_QUORUM_MS, OBSERVER_SESSION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, NodeId, wall_time
from andiron.quorum.voter_set import NOWHERE
from andiron.replication.leader import Progress
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    Listener,
    Node,
    ReplicaState,
)

API = ApiKey.DESCRIBE_QUORUM
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[DescribeQuorumRequest]) -> DescribeQuorumResponse | Wait:
    asked = [
        (topic.topic_name, part.partition_index) for topic in request.body.topics for part in topic.partitions
    ]
    if asked != [METADATA]:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return DescribeQuorumResponse(code.number, f"there is {METADATA} and no other")
    return at_quorum_leader(
        broker, request, lambda: _described(broker, request.now), _refusal, DESCRIBE_QUORUM_MS
    )


def _refusal(error: ProtocolError) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(error.code.number, error.detail)


def _described(broker: Broker, now: Millis) -> DescribeQuorumResponse:
    raft = broker.raft
    leader, me = raft.partition.leader(), NodeId(broker.settings.node_id)
    voters = [_state(broker, node, seen, now) for node, seen in leader.progress().items()]
    at = wall_time(now)
    itself = ReplicaState(me, broker.directories.metadata_id, leader.end, at, at)
    observers = [
        _state(broker, node, seen, now)
        for node, seen in raft.observers.items()
        if now - seen.fetched_at < OBSERVER_SESSION_MS
    ]
    (voters if me in raft.quorum.voters else observers).append(itself)
    if not raft.voters.kraft_version:
        for each in voters:
            each.replica_directory_id = NOWHERE
    described = DescribeQuorumResponsePartition(
        METADATA.partition,
        leader_id=me,
        leader_epoch=raft.quorum.epoch,
        high_watermark=leader.watermark,
        current_voters=sorted(voters, key=lambda state: state.replica_id),
        observers=sorted(observers, key=lambda state: state.replica_id),
    )
    return DescribeQuorumResponse(
        topics=[DescribeQuorumResponseTopic(METADATA.topic, [described])], nodes=_nodes(broker)
    )


def _state(broker: Broker, node: NodeId, seen: Progress, now: Millis) -> ReplicaState:
    ahead_ms = wall_time(now) - now  # of the clock that progress is measured by
    return ReplicaState(
        node,
        broker.raft.voters.directory_of(node),
        log_end_offset=seen.offset,
        last_fetch_timestamp=seen.fetched_at + ahead_ms,
        last_caught_up_timestamp=seen.caught_up_at + ahead_ms,
    )


def _nodes(broker: Broker) -> list[Node]:
    """Where the voters are reached."""
    raft, name = broker.raft, broker.settings.controller_listeners[0]
    found = [(node, raft.address_of(node)) for node in raft.quorum.voters]
    return [Node(node, [Listener(name, at.host, at.port)]) for node, at in found if at is not None]
