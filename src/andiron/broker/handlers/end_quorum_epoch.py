"""EndQuorumEpoch (key 54), versions 0-1: the leader of the metadata quorum resigns, and names successors (KIP-595)."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.handlers.begin_quorum_epoch import leader_refused
from andiron.broker.metadata.raft_request_checks import misdirected
from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.node.request import Request
from andiron.broker.settings.listeners import Scope
from andiron.model.ids import LeaderEpoch, NodeId
from andiron.quorum.events import LeaderNamed, LeaderResigned
from andiron.wire.apis import ApiKey
from andiron.wire.messages.end_quorum_epoch import (
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochResponse,
    EndQuorumEpochResponsePartition,
    EndQuorumEpochResponseTopic,
)

API = ApiKey.END_QUORUM_EPOCH
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[EndQuorumEpochRequest]) -> EndQuorumEpochResponse:
    body, raft = request.body, broker.raft
    if (wrong := misdirected(broker, body)) is not None:
        return EndQuorumEpochResponse(wrong.number)
    said = body.topics[0].partitions[0]
    epoch = LeaderEpoch(said.leader_epoch)
    answer = EndQuorumEpochResponsePartition(METADATA.partition)
    if (refused := leader_refused(broker, said.leader_id, epoch)) is not None:
        answer.error_code = refused.number
    else:
        raft.step(LeaderNamed(epoch, NodeId(said.leader_id)), request.now)
        raft.step(LeaderResigned(epoch, _successors(said)), request.now)
    answer.leader_id, answer.leader_epoch = raft.leader, raft.quorum.epoch
    return EndQuorumEpochResponse(topics=[EndQuorumEpochResponseTopic(METADATA.topic, [answer])])


def _successors(said: EndQuorumEpochRequestPartition) -> list[NodeId]:
    named = said.preferred_successors or [each.candidate_id for each in said.preferred_candidates]
    return [NodeId(node) for node in named]
