"""AddRaftVoter (key 80), versions 0-1: one more voter in the metadata quorum (KIP-853).

Waits until the node has caught up with the log, and then until the new voters have committed that they are the voters;
`ack_when_committed` of version 1 can waive the latter. The leader decides; a broker passes the request on.

UNSUPPORTED_VERSION: the voters are fixed by the settings. DUPLICATE_VOTER: it is one. REQUEST_TIMED_OUT: it has not
caught up, or another change is not committed yet.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.leader_forwarding import at_quorum_leader
from andiron.broker.metadata.voter_changes import VoterChanges
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address, Millis, NodeId
from andiron.quorum.voter_set import VoterNode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse

API = ApiKey.ADD_RAFT_VOTER
SERVED = ADVERTISED = (0, 1)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[AddRaftVoterRequest]) -> AddRaftVoterResponse | Wait:
    body = request.body
    if body.cluster_id not in (None, broker.cluster_id):
        return _refusal(ErrorCode.INCONSISTENT_CLUSTER_ID.error("this is another cluster"))
    return at_quorum_leader(broker, request, lambda: _added(broker, request), _refusal, body.timeout_ms)


def _added(broker: Broker, request: Request[AddRaftVoterRequest]) -> AddRaftVoterResponse | Wait:
    body = request.body
    listeners = tuple((each.name, Address(each.host, each.port)) for each in body.listeners)
    voter = VoterNode(NodeId(body.voter_id), bytes(body.voter_directory_id), listeners)
    deadline = Millis(request.now + max(0, body.timeout_ms))
    changes = VoterChanges(broker.raft, broker.step)
    try:
        added = changes.add(voter, deadline, committed=body.ack_when_committed)
    except ProtocolError as error:
        return _refusal(error)
    return added.and_then(lambda _: AddRaftVoterResponse()).or_else(_refusal)


def _refusal(error: ProtocolError) -> AddRaftVoterResponse:
    return AddRaftVoterResponse(error_code=error.code.number, error_message=error.detail)
