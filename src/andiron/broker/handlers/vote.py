"""Vote (key 52), versions 0-2: a candidate for the lead of the metadata quorum asks a voter for its vote (KIP-595).

From version 2 on it may be a pre-vote (KIP-996), for which no vote is recorded. The answer is on the disk before it
leaves (quorum/election_state.py), and tells which leader and epoch are known here.

INCONSISTENT_CLUSTER_ID, INVALID_VOTER_KEY: it is meant for another. FENCED_LEADER_EPOCH: that epoch is over. Stricter
than Kafka: who is no voter as far as can be known is answered INCONSISTENT_VOTER_SET, and an epoch that there cannot be
INVALID_REQUEST; neither changes anything (quorum/trust.py).
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_request_checks import disbelieved, is_meant_for, misdirected
from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.node.request import Request
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import LeaderEpoch, NodeId, Offset
from andiron.quorum.events import LogEnd
from andiron.wire.apis import ApiKey
from andiron.wire.messages.vote import (
    VoteRequest,
    VoteRequestPartition,
    VoteResponse,
    VoteResponsePartition,
    VoteResponseTopic,
)

API = ApiKey.VOTE
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[VoteRequest]) -> VoteResponse:
    if (wrong := misdirected(broker, request.body)) is not None:
        return VoteResponse(wrong.number)
    asked, raft = request.body.topics[0].partitions[0], broker.raft
    answer = VoteResponsePartition(METADATA.partition, leader_id=raft.leader, leader_epoch=raft.quorum.epoch)
    if (refused := _refusal(broker, request.body.voter_id, asked)) is not None:
        answer.error_code = refused.number
        return VoteResponse(topics=[VoteResponseTopic(METADATA.topic, [answer])])
    end = LogEnd(LeaderEpoch(asked.last_offset_epoch), Offset(asked.last_offset))
    try:
        ballot = raft.vote(
            NodeId(asked.replica_id),
            LeaderEpoch(asked.replica_epoch),
            end,
            pre_vote=asked.pre_vote,
            now=request.now,
        )
        answer.vote_granted, answer.leader_epoch, answer.leader_id = ballot[:3]
    except ProtocolError as error:
        answer.error_code = error.code.number
    return VoteResponse(topics=[VoteResponseTopic(METADATA.topic, [answer])])


def _refusal(broker: Broker, voter: int, asked: VoteRequestPartition) -> ErrorCode | None:
    """Why a candidate gets no answer to its question; None if it does."""
    newest = asked.replica_epoch if asked.pre_vote else asked.replica_epoch - 1  # that its log can have
    if not 0 <= asked.last_offset_epoch <= newest or asked.last_offset < 0:
        return ErrorCode.INVALID_REQUEST
    if (refused := disbelieved(broker, asked.replica_id, asked.replica_epoch)) is not None:
        return refused
    is_ours = is_meant_for(broker, voter, asked.voter_directory_id)
    return None if is_ours else ErrorCode.INVALID_VOTER_KEY
