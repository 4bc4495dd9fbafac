"""UpdateFeatures (key 57), versions 0-2: the levels of the cluster's features are raised or lowered (KIP-584).

All that is asked for, or nothing and why: INVALID_UPDATE_VERSION, where a node does not know the level, or it is the
wrong way. The controller decides; a broker passes the request on.

`kraft.version` is the quorum's, and changed by itself: from 0 to 1 the voters that were in everybody's settings are
written into the log, and can change from then on (KIP-853). Every voter has to be heard of, and there is no way back.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.metadata.leader_forwarding import at_quorum_leader
from andiron.broker.metadata.voter_changes import VoterChanges
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.listeners import Scope
from andiron.controller.features import KRAFT_VERSION, check_direction, check_kind, refused
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.wire.apis import ApiKey
from andiron.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

API = ApiKey.UPDATE_FEATURES
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.BOTH


def handle(broker: Broker, request: Request[UpdateFeaturesRequest]) -> UpdateFeaturesResponse | Wait:
    return at_quorum_leader(
        broker, request, lambda: _at_the_leader(broker, request), refused, request.body.timeout_ms
    )


def _at_the_leader(broker: Broker, request: Request[UpdateFeaturesRequest]) -> UpdateFeaturesResponse | Wait:
    body = request.body
    quorums = [update for update in body.feature_updates if update.feature == KRAFT_VERSION]
    others = [update for update in body.feature_updates if update.feature != KRAFT_VERSION]
    if not quorums:
        return broker.decide_here(body, request.now).or_else(refused)
    try:
        if others or len(quorums) > 1:
            raise ErrorCode.INVALID_REQUEST.error(f"{KRAFT_VERSION} is changed by itself, and once")
        return _upgraded(broker, request, quorums[0])
    except ProtocolError as error:
        return refused(error)


def _upgraded(
    broker: Broker, request: Request[UpdateFeaturesRequest], update: FeatureUpdateKey
) -> UpdateFeaturesResponse | Wait:
    raft = broker.raft
    changes, before = VoterChanges(raft, broker.step), raft.voters.kraft_version
    check_kind(update)
    if update.max_version_level > 1:
        raise ErrorCode.INVALID_UPDATE_VERSION.error(f"{KRAFT_VERSION} is 0 or 1")
    check_direction(update, before)
    if update.max_version_level < before:
        raise ErrorCode.INVALID_UPDATE_VERSION.error(f"{KRAFT_VERSION} does not go down")
    done = UpdateFeaturesResponse(results=[UpdatableFeatureResult(KRAFT_VERSION)])
    if update.max_version_level == before:
        return done
    voters = changes.from_settings()
    if request.body.validate_only:
        return done
    deadline = Millis(request.now + max(0, request.body.timeout_ms))
    return changes.write_down(voters, deadline).and_then(lambda _: done).or_else(refused)
