"""UpdateRaftVoter (key 82), version 0: a voter of the metadata quorum is reached elsewhere, or knows more (KIP-853).

The voter itself says so to the leader. Where the voters are in the log the new record is committed before the answer;
where they are in everybody's settings the leader only notes down which disk the voter has, for the day on which they go
into the log (update_features.py).

FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER: it was meant for another leader. VOTER_NOT_FOUND: no
voter has that id and directory. INVALID_REQUEST: it names no listener of the controllers, or cannot do what holds here.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.voter_changes import VoterChanges
from andiron.broker.node.patience import CONTROLLER_DECISION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address, Millis, NodeId
from andiron.quorum.voter_set import VoterNode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.update_raft_voter import (
    CurrentLeader,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)

API = ApiKey.UPDATE_RAFT_VOTER
SERVED = ADVERTISED = (0, 0)
SCOPE = Scope.CONTROLLER


def handle(broker: Broker, request: Request[UpdateRaftVoterRequest]) -> UpdateRaftVoterResponse | Wait:
    def refusal(error: ProtocolError) -> UpdateRaftVoterResponse:
        return UpdateRaftVoterResponse(error_code=error.code.number, current_leader=_leader(broker))

    try:
        updated = _updated(broker, request)
    except ProtocolError as error:
        return refusal(error)
    return updated.and_then(lambda _: UpdateRaftVoterResponse(current_leader=_leader(broker))).or_else(
        refusal
    )


def _updated(broker: Broker, request: Request[UpdateRaftVoterRequest]) -> Wait:
    body, raft = request.body, broker.raft
    if body.cluster_id not in (None, broker.cluster_id):
        raise ErrorCode.INCONSISTENT_CLUSTER_ID.error("this is another cluster")
    raft.partition.leader()
    raft.partition.check_epoch(body.current_leader_epoch)
    name, levels = broker.settings.controller_listeners[0], body.kraft_version_feature
    listeners = tuple((each.name, Address(each.host, each.port)) for each in body.listeners)
    if name not in dict(listeners):
        raise ErrorCode.INVALID_REQUEST.error(f"the voter names no listener {name}")
    level = raft.voters.kraft_version
    if not levels.min_supported_version <= level <= levels.max_supported_version:
        raise ErrorCode.INVALID_REQUEST.error(f"the voter does not know kraft.version {level}")
    voter = VoterNode(NodeId(body.voter_id), bytes(body.voter_directory_id), listeners)
    deadline = Millis(request.now + CONTROLLER_DECISION_MS)
    return VoterChanges(raft, broker.step).update(voter, deadline)


def _leader(broker: Broker) -> CurrentLeader:
    raft = broker.raft
    address = raft.address_of(raft.leader) or Address("", -1)
    return CurrentLeader(raft.leader, raft.quorum.epoch, *address)
