"""DescribeCluster (key 60), versions 0-2: the cluster's id, its controller, and its brokers or controllers.

Brokers on clients' listeners, controllers (from version 1 on) on the controllers': those that have registered, as who
came by that listener finds them. MISMATCHED_ENDPOINT_TYPE where the others are asked for.
"""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.node.operations import ON_THE_CLUSTER
from andiron.broker.node.request import Request
from andiron.broker.settings.listeners import Scope
from andiron.model.errors import ErrorCode
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from andiron.wire.messages.metadata import NOT_ASKED

API = ApiKey.DESCRIBE_CLUSTER
SERVED = ADVERTISED = (0, 2)
SCOPE = Scope.BOTH

BROKERS, CONTROLLERS = 1, 2


def handle(broker: Broker, request: Request[DescribeClusterRequest]) -> DescribeClusterResponse:
    body = request.body
    at_controllers = request.listener in broker.settings.controller_listeners
    if body.endpoint_type not in (BROKERS, CONTROLLERS):
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        return DescribeClusterResponse(error_code=code.number, error_message=code.meaning)
    if at_controllers != (body.endpoint_type == CONTROLLERS):
        own, other = ("controllers", "brokers") if at_controllers else ("brokers", "controllers")
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE.number,
            error_message=f"this listener knows {own}; {other} are asked for by one of theirs",
        )
    return DescribeClusterResponse(
        endpoint_type=body.endpoint_type,
        cluster_id=broker.cluster_id,
        controller_id=broker.raft.leader if at_controllers else broker.controller_told,
        brokers=_controllers(broker, request) if at_controllers else _brokers(broker, request),
        cluster_authorized_operations=(
            ON_THE_CLUSTER if body.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def _brokers(broker: Broker, request: Request[DescribeClusterRequest]) -> list[DescribeClusterBroker]:
    return [
        DescribeClusterBroker(node.id, *node.endpoint(request.listener), node.rack, node.fenced)
        for node in broker.image.brokers.values()
        if request.body.include_fenced_brokers or not node.fenced
    ]


def _controllers(broker: Broker, request: Request[DescribeClusterRequest]) -> list[DescribeClusterBroker]:
    found = [(node.id, node.endpoint(request.listener)) for node in broker.image.controllers.values()]
    return [DescribeClusterBroker(id, *address) for id, address in found if address is not None]
