"""Bounds on what members say of themselves: it must fit into a batch of __consumer_offsets (max.message.bytes).

The largest batch is that of the topic's max.message.bytes. What a member says of itself is written with its group, so
what cannot be written is refused when it is said, and is not kept in memory until then. Kafka finds out when it writes,
and answers the same.
"""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode
from andiron.model.settings import MIB
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest

BATCH_MAX = MIB  # unless the topic says otherwise
OVERHEAD = 60  # bytes of a record, or of a member in one, beside what somebody chose


def bytes_said(request: Any) -> int:
    """The bytes that a member says of itself in a JoinGroup or ConsumerGroupHeartbeat request; else 0."""
    if type(request) is JoinGroupRequest:
        said = sum(len(each.name) + len(each.metadata) for each in request.protocols)
        return said + len(request.protocol_type) + len(request.group_instance_id or "")
    if type(request) is ConsumerGroupHeartbeatRequest:
        texts = (request.instance_id, request.rack_id, request.subscribed_topic_regex, request.member_id)
        return sum(len(text or "") for text in texts) + sum(map(len, request.subscribed_topic_names or ()))
    return 0


def check_fits(request: Any, batch_max: int) -> None:
    """Raise UNKNOWN_SERVER_ERROR for a member whose metadata does not fit into a batch."""
    said = bytes_said(request)
    if said > batch_max:
        raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
            f"a member says {said} bytes of itself, and a batch of __consumer_offsets holds {batch_max}"
        )
