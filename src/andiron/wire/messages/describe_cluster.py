"""DescribeCluster (key 60), versions 0-2: the cluster's id and its brokers (from version 1, or controllers).

Always flexible. Version 2 can list fenced brokers too.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, string, struct


@message(api_key=60, versions=(0, 2), flexible=0)
class DescribeClusterRequest:
    include_cluster_authorized_operations: bool = boolean()
    endpoint_type: int = i8(since=1, default=1)
    include_fenced_brokers: bool = boolean(since=2)


@struct
class DescribeClusterBroker:
    broker_id: int = i32()
    host: str = string()
    port: int = i32()
    rack: str | None = string(nullable=True, default=None)
    is_fenced: bool = boolean(since=2)


@message(api_key=60, versions=(0, 2), flexible=0)
class DescribeClusterResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    endpoint_type: int = i8(since=1, default=1)
    cluster_id: str = string()
    controller_id: int = i32(default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker)
    cluster_authorized_operations: int = i32(default=-(1 << 31))
