"""FindCoordinator (key 10), versions 0-6: which broker keeps a group or a transactional id.

It follows from the name: the broker that leads the name's partition of the coordinator's topic.
The topic is made when somebody first asks, and the answer waits for that. Where it cannot be made, the answer says why.

From version 4 on one request names several keys, and each has an answer of its own.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.metadata.topic_creation import create_internal, until_created
from andiron.broker.node.request import Request
from andiron.broker.node.slices import InSlices, each
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.wire.apis import ApiKey
from andiron.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

API = ApiKey.FIND_COORDINATOR
SERVED = ADVERTISED = (0, 6)

ENTRIES_MAX = 100_000

GROUP, TRANSACTION = 0, 1
SEVERAL_SINCE = 4


def handle(
    broker: Broker, request: Request[FindCoordinatorRequest]
) -> FindCoordinatorResponse | Wait | InSlices[FindCoordinatorResponse]:
    kind = request.body.key_type
    if kind not in (GROUP, TRANSACTION):
        return _response(broker, request)
    topic = (broker.groups if kind == GROUP else broker.transactions).shards.topic
    if topic in broker.image.topics:
        return _response(broker, request)
    created = create_internal(broker, topic, request.now)
    return created.and_then(
        lambda answer: until_created(broker, answer, lambda: _response(broker, request))
    ).or_else(lambda _: _response(broker, request))


def _several(broker: Broker, request: Request[FindCoordinatorRequest]) -> InSlices[FindCoordinatorResponse]:
    keys = request.body.coordinator_keys
    return FindCoordinatorResponse(coordinators=(yield from each(keys, partial(_find, broker, request))))


def _response(
    broker: Broker, request: Request[FindCoordinatorRequest]
) -> FindCoordinatorResponse | InSlices[FindCoordinatorResponse]:
    body = request.body
    if request.version >= SEVERAL_SINCE:
        return _several(broker, request)
    found = _find(broker, request, body.key)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _find(broker: Broker, request: Request[FindCoordinatorRequest], key: str) -> Coordinator:
    try:
        node = broker.image.brokers[_leader(broker, request.body.key_type, key)]
    except ProtocolError as error:
        return Coordinator(key, -1, "", -1, error.code.number, error.detail)
    host, port = node.endpoint(request.listener)
    return Coordinator(key, node.id, host, port)


def _leader(broker: Broker, kind: int, key: str) -> NodeId:
    """The broker that leads the partition of a key."""
    if kind not in (GROUP, TRANSACTION):
        raise ErrorCode.INVALID_REQUEST.error(f"nothing of type {kind} has a coordinator here")
    coordinator = broker.groups if kind == GROUP else broker.transactions
    topic = broker.image.topics.get(coordinator.shards.topic)
    if topic is None:
        name = coordinator.shards.topic
        reason = broker.internal_topic_errors.get(name, "nobody knows why yet; try again")
        raise ErrorCode.COORDINATOR_NOT_AVAILABLE.error(f"{name} cannot be made: {reason}")
    leader = topic.partitions[coordinator.partition_of(key)].leader
    if not broker.image.is_live(leader):
        raise ErrorCode.COORDINATOR_NOT_AVAILABLE.error(f"the partition of {key} has no leader")
    return leader
