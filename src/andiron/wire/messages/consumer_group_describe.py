"""ConsumerGroupDescribe (key 69), versions 0-1: state and members of groups that assign on the broker.

One entry a group, always: an empty answer aborts some clients. Authorized operations are a bit field,
unasked for: the least integer. Version 1 tells the kind of member (0 classic, 1 consumer, -1 unknown).
Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i8, i16, i32, message, nested, string, struct, uuid


@message(api_key=69, versions=(0, 1), flexible=0)
class ConsumerGroupDescribeRequest:
    group_ids: list[str] = array(string())
    include_authorized_operations: bool = boolean()


@struct
class TopicPartitions:
    topic_id: bytes = uuid()
    topic_name: str = string()
    partitions: list[int] = array(i32())


@struct
class Assignment:
    topic_partitions: list[TopicPartitions] = array(TopicPartitions)


@struct
class Member:
    member_id: str = string()
    instance_id: str | None = string(nullable=True, default=None)
    rack_id: str | None = string(nullable=True, default=None)
    member_epoch: int = i32()
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string())
    subscribed_topic_regex: str | None = string(nullable=True, default=None)
    assignment: Assignment = nested(Assignment)
    target_assignment: Assignment = nested(Assignment)
    member_type: int = i8(since=1, default=-1)


@struct
class DescribedGroup:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    group_id: str = string()
    group_state: str = string()
    group_epoch: int = i32()
    assignment_epoch: int = i32()
    assignor_name: str = string()
    members: list[Member] = array(Member)
    authorized_operations: int = i32(default=-(1 << 31))


@message(api_key=69, versions=(0, 1), flexible=0)
class ConsumerGroupDescribeResponse:
    throttle_time_ms: int = i32()
    groups: list[DescribedGroup] = array(DescribedGroup)
