"""Whether a ConsumerGroupHeartbeat can be taken at its word, before anything is done about it.

first heartbeat     says everything: a timeout, topics or a pattern, and that nothing is owned
later ones          come with the epoch that the member was given last, or, where that answer was lost, with the
                    one before, if the member owns nothing that it might have had to give up since
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence

from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import AWAY, JOINING, LEAVING, UNSAID, Member
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions

OWN_ID_SINCE = 1  # the version from which on a member chooses its own id


def check_heartbeat(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Sequence[str]) -> None:
    """Raise INVALID_REQUEST, or UNSUPPORTED_ASSIGNOR, for a ConsumerGroupHeartbeat that cannot be."""
    epoch = request.member_epoch
    needs_id = version >= OWN_ID_SINCE or epoch > JOINING or epoch == LEAVING
    if needs_id and not request.member_id:
        raise ErrorCode.INVALID_REQUEST.error("the member needs an id")
    if not request.group_id:
        raise ErrorCode.INVALID_REQUEST.error("the group needs a name")
    if request.instance_id == "":
        raise ErrorCode.INVALID_REQUEST.error("an instance id cannot be empty")
    if request.rack_id == "":
        raise ErrorCode.INVALID_REQUEST.error("a rack id cannot be empty")
    if epoch == JOINING:
        _check_first(request)
    elif epoch == AWAY and request.instance_id is None:
        raise ErrorCode.INVALID_REQUEST.error("only a member with an instance id can go for a while")
    elif epoch < AWAY:
        raise ErrorCode.INVALID_REQUEST.error(f"{epoch} is not a member epoch")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise ErrorCode.UNSUPPORTED_ASSIGNOR.error(
            f"there is no assignor {request.server_assignor!r}, but {', '.join(assignors)}"
        )


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == UNSAID:
        raise ErrorCode.INVALID_REQUEST.error("whoever joins must say its rebalance timeout")
    if request.topic_partitions is None or request.topic_partitions:
        raise ErrorCode.INVALID_REQUEST.error("whoever joins must say that it owns no partitions")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise ErrorCode.INVALID_REQUEST.error("whoever joins must name topics or a pattern")


def check_epoch(member: Member, epoch: int, owned: Sequence[TopicPartitions] | None) -> None:
    """Raise FENCED_MEMBER_EPOCH for a heartbeat whose epoch is neither the member's nor, with less owned, the last."""
    if epoch in (JOINING, member.epoch):
        return
    answer_was_lost = epoch == member.previous_epoch and epoch < member.epoch and _is_part(owned, member)
    if not answer_was_lost:
        raise ErrorCode.FENCED_MEMBER_EPOCH.error(
            f"the member is at epoch {member.epoch}, not {epoch}: let go of all partitions and join again"
        )


def _is_part(owned: Sequence[TopicPartitions] | None, member: Member) -> bool:
    """Whether all owned partitions are assigned to the member; a heartbeat that names none may own anything."""
    if owned is None:
        return False
    return all(
        partition in member.assigned.get(topic.topic_id, {})
        for topic in owned
        for partition in topic.partitions
    )


def check_size(group: ConsumerGroup, member_id: str, size_max: int) -> None:
    """Raise GROUP_MAX_SIZE_REACHED for one more member than group.consumer.max.size."""
    if len(group.members) >= size_max and member_id not in group.members:
        raise ErrorCode.GROUP_MAX_SIZE_REACHED.error(f"group {group.id} has {size_max} members")


def new_member_id(chance: Chance) -> str:
    """An id for a member that has not chosen one, written as Kafka writes its UUIDs."""
    return urlsafe_b64encode(chance.uuid()).rstrip(b"=").decode()
