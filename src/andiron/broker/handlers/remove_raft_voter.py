"""RemoveRaftVoter (key 81), version 0: one voter less in the metadata quorum (KIP-853).

Answered when those that are left have committed it; if it is the leader that goes, it resigns then. The leader
decides; a broker passes the request on.

UNSUPPORTED_VERSION: the voters are fixed by the settings. VOTER_NOT_FOUND: no voter has that id and directory.
INVALID_REQUEST: it is the last one. REQUEST_TIMED_OUT: another change is not committed yet, or this one not in time.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.leader_forwarding import at_quorum_leader
from andiron.broker.metadata.voter_changes import VoterChanges
from andiron.broker.node.patience import CONTROLLER_DECISION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, NodeId
from andiron.wire.apis import ApiKey
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse

API = ApiKey.REMOVE_RAFT_VOTER
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[RemoveRaftVoterRequest]) -> RemoveRaftVoterResponse | Wait:
    body = request.body
    if body.cluster_id not in (None, broker.cluster_id):
        return _refusal(ErrorCode.INCONSISTENT_CLUSTER_ID.error("this is another cluster"))
    return at_quorum_leader(broker, request, lambda: _removed(broker, request), _refusal)


def _removed(broker: Broker, request: Request[RemoveRaftVoterRequest]) -> RemoveRaftVoterResponse | Wait:
    body = request.body
    changes = VoterChanges(broker.raft, broker.step)
    deadline = Millis(request.now + CONTROLLER_DECISION_MS)
    try:
        removed = changes.remove(NodeId(body.voter_id), bytes(body.voter_directory_id), deadline)
    except ProtocolError as error:
        return _refusal(error)
    return removed.and_then(lambda _: RemoveRaftVoterResponse()).or_else(_refusal)


def _refusal(error: ProtocolError) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(error_code=error.code.number, error_message=error.detail)
