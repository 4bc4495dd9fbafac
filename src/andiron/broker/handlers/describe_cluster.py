"""DescribeCluster (key 60), versions 0-2: the cluster's id, its controller and its brokers."""

from __future__ import annotations

from andiron.broker.broker import Broker
from andiron.broker.listeners import Scope
from andiron.broker.operations import ON_THE_CLUSTER
from andiron.broker.request import Request
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
    body, image = request.body, broker.image
    if body.endpoint_type != BROKERS:
        known = body.endpoint_type == CONTROLLERS
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE if known else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        return DescribeClusterResponse(
            error_code=code.number, error_message="this listener knows brokers only"
        )
    return DescribeClusterResponse(
        cluster_id=broker.cluster_id,
        controller_id=broker.controller_told,
        brokers=[
            DescribeClusterBroker(node.id, *node.endpoint(request.listener), node.rack, node.fenced)
            for node in image.brokers.values()
            if body.include_fenced_brokers or not node.fenced
        ],
        cluster_authorized_operations=(
            ON_THE_CLUSTER if body.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
