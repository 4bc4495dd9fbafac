"""Vote (key 52), versions 0-2: another voter would lead the metadata quorum; is it to?

The answer is on the disk before it leaves (quorum/state.py), and tells which leader and epoch are known here.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.listeners import Scope
from andiron.broker.quorum_messages import METADATA
from andiron.broker.request import Request
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import LeaderEpoch, NodeId, Offset
from andiron.quorum.events import LogEnd
from andiron.wire.apis import ApiKey
from andiron.wire.messages.vote import (
    VoteRequest,
    VoteResponse,
    VoteResponsePartition,
    VoteResponseTopic,
)

API = ApiKey.VOTE
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[VoteRequest]) -> VoteResponse:
    body, member = request.body, broker.metadata.member
    if body.cluster_id not in (None, broker.cluster_id):
        return VoteResponse(ErrorCode.INCONSISTENT_CLUSTER_ID.number)
    if [topic.topic_name for topic in body.topics] != [METADATA.topic] or not body.topics[0].partitions:
        return VoteResponse(ErrorCode.INVALID_REQUEST.number)
    asked = body.topics[0].partitions[0]
    answer = VoteResponsePartition(METADATA.partition)
    if body.voter_id not in (-1, broker.settings.node_id):
        answer.error_code = ErrorCode.INVALID_VOTER_KEY.number
    elif not member.voters.may_change and asked.replica_id not in member.quorum.voters:
        answer.error_code = ErrorCode.INCONSISTENT_VOTER_SET.number
    else:
        end = LogEnd(LeaderEpoch(asked.last_offset_epoch), Offset(asked.last_offset))
        try:
            ballot = member.vote(
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
