"""BeginQuorumEpoch (key 53), versions 0-1: the new leader of the metadata quorum tells the voters (KIP-595)."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_request_checks import disbelieved, is_meant_for, misdirected
from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.node.request import Request
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode
from andiron.model.ids import Address, LeaderEpoch, NodeId
from andiron.quorum.events import LeaderHeard, LeaderNamed
from andiron.wire.apis import ApiKey
from andiron.wire.messages.begin_quorum_epoch import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    BeginQuorumEpochResponsePartition,
    BeginQuorumEpochResponseTopic,
)

API = ApiKey.BEGIN_QUORUM_EPOCH
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[BeginQuorumEpochRequest]) -> BeginQuorumEpochResponse:
    body, raft = request.body, broker.raft
    if (wrong := misdirected(broker, body)) is not None:
        return BeginQuorumEpochResponse(wrong.number)
    said = body.topics[0].partitions[0]
    epoch = LeaderEpoch(said.leader_epoch)
    answer = BeginQuorumEpochResponsePartition(METADATA.partition)
    if not is_meant_for(broker, body.voter_id, said.voter_directory_id):
        answer.error_code = ErrorCode.INVALID_VOTER_KEY.number
    elif (refused := leader_refused(broker, said.leader_id, epoch)) is not None:
        answer.error_code = refused.number
    else:
        for endpoint in body.leader_endpoints[:1]:
            raft.voters.learn(NodeId(said.leader_id), Address(endpoint.host, endpoint.port))
        raft.step(LeaderNamed(epoch, NodeId(said.leader_id)), request.now)
        raft.step(LeaderHeard(epoch), request.now)
    answer.leader_id, answer.leader_epoch = raft.leader, raft.quorum.epoch
    return BeginQuorumEpochResponse(topics=[BeginQuorumEpochResponseTopic(METADATA.topic, [answer])])


def leader_refused(broker: Broker, leader: int, epoch: LeaderEpoch) -> ErrorCode | None:
    """Why a node that speaks as the leader of an epoch is not believed; None if it is."""
    quorum = broker.raft.quorum
    if epoch == quorum.epoch and quorum.leader not in (None, leader):
        return ErrorCode.INVALID_REQUEST  # there is one leader an epoch
    return disbelieved(broker, leader, epoch)
