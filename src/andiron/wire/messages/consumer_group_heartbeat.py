"""ConsumerGroupHeartbeat (key 68), versions 0-1: the one request of a group that assigns on the broker.

The first heartbeat carries all the member is, later ones only what changed: null means "as before", and
so does a timeout of -1. Epoch 0 joins, -1 leaves, -2 leaves for a while as a static member. Version 1
adds a subscription by pattern and lets the member choose its own id. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, nested, string, struct, uuid


@struct
class TopicPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(i32())


@message(api_key=68, versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatRequest:
    group_id: str = string()
    member_id: str = string()
    member_epoch: int = i32()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    rebalance_timeout_ms: int = i32(default=-1)
    subscribed_topic_names: list[str] | None = array(string(), nullable=True, default=None)
    subscribed_topic_regex: str | None = string(since=1, nullable=1, default=None)
    server_assignor: str | None = string(nullable=True, default=None)
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable=True, default=None)


@struct
class Assignment:
    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


@message(api_key=68, versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    member_id: str | None = string(nullable=True, default=None)
    member_epoch: int = i32()
    heartbeat_interval_ms: int = i32()
    assignment: Assignment | None = nested(Assignment, nullable=True, default=None)
