"""The records of `__consumer_offsets`: Kafka's, byte for byte, so that its tools can read them.

    key     type (int16) · fields          which thing is meant
    value   version (int16) · fields       what it is from now on; none: it is no more

The topic is compacted, so the latest record of a key is all that is needed to know the thing. Types 0 and 1
are both committed offsets (0 as written long ago), 2 is a classic group, 3 to 8 and 16 are the parts of a group
that assigns on the broker. Types 10 to 15 and 17 to 23 belong to share and streams groups, which are not served: of
these only the key is read, for whose they are (unserved_group.py). Others are passed over.

An offset committed inside a transaction stands in a batch of that transaction. It counts when the marker of
its producer comes, so what is replayed is the record with its producer, and later the TransactionEnded.

Read next: offsets/records.py, then shard.py, which replays these.
"""

from __future__ import annotations

import struct as structs
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from andiron.groups.offsets.records import OffsetCommitKey, OffsetCommitValue, decode_value, encode_value
from andiron.model.errors import ErrorCode
from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import MalformedMessage
from andiron.wire.schema import array, data, i8, i32, i64, message, nested, string, struct, uuid

_INT16 = structs.Struct(">h")
NO_PRODUCER = -1

# ── groups of the classic protocol ───────────────────────────────────────────────────


@message(api_key=2, versions=(0, 0))
class GroupMetadataKey:
    group: str = string()


@struct
class MemberMetadata:
    member_id: str = string()
    group_instance_id: str | None = string(since=3, nullable=3, default=None)
    client_id: str = string()
    client_host: str = string()
    rebalance_timeout: int = i32(since=1)
    session_timeout: int = i32()
    subscription: bytes = data()
    assignment: bytes = data()


@message(api_key=2, versions=(0, 4), flexible=4)
class GroupMetadataValue:
    protocol_type: str = string()
    generation: int = i32()
    protocol: str | None = string(nullable=True)
    leader: str | None = string(nullable=True)
    current_state_timestamp: int = i64(since=2, default=-1)
    members: list[MemberMetadata] = array(MemberMetadata)


# ── groups that assign on the broker ─────────────────────────────────────────────────


@message(api_key=3, versions=(0, 0))
class ConsumerGroupMetadataKey:
    group_id: str = string()


@message(api_key=3, versions=(0, 0), flexible=0)
class ConsumerGroupMetadataValue:
    epoch: int = i32()
    metadata_hash: int = i64(tag=0)


@message(api_key=4, versions=(0, 0))
class ConsumerGroupPartitionMetadataKey:
    """Partition counts of the topics, as brokers before 4.1 wrote them; replaced by the metadata hash, and removed."""

    group_id: str = string()


@struct
class PartitionMetadata:
    partition: int = i32()
    racks: list[str] = array(string())


@struct
class TopicMetadata:
    topic_id: bytes = uuid()
    topic_name: str = string()
    num_partitions: int = i32()
    partition_metadata: list[PartitionMetadata] = array(PartitionMetadata)


@message(api_key=4, versions=(0, 0), flexible=0)
class ConsumerGroupPartitionMetadataValue:
    topics: list[TopicMetadata] = array(TopicMetadata)


@message(api_key=5, versions=(0, 0))
class ConsumerGroupMemberMetadataKey:
    group_id: str = string()
    member_id: str = string()


@struct
class ClassicProtocol:
    name: str = string()
    metadata: bytes = data()


@struct
class ClassicMemberMetadata:
    """A classic member of a consumer group: its session timeout and protocols."""

    session_timeout_ms: int = i32()
    supported_protocols: list[ClassicProtocol] = array(ClassicProtocol)


@message(api_key=5, versions=(0, 0), flexible=0)
class ConsumerGroupMemberMetadataValue:
    instance_id: str | None = string(nullable=True)
    rack_id: str | None = string(nullable=True)
    client_id: str = string()
    client_host: str = string()
    subscribed_topic_names: list[str] = array(string())
    subscribed_topic_regex: str | None = string(nullable=True)
    rebalance_timeout_ms: int = i32(default=-1)
    server_assignor: str | None = string(nullable=True)
    # Not null by default: a member that does not speak the classic protocol is written with an explicit null.
    classic_member_metadata: ClassicMemberMetadata | None = nested(ClassicMemberMetadata, tag=0, nullable=0)


@message(api_key=6, versions=(0, 0))
class ConsumerGroupTargetAssignmentMetadataKey:
    group_id: str = string()


@message(api_key=6, versions=(0, 0), flexible=0)
class ConsumerGroupTargetAssignmentMetadataValue:
    assignment_epoch: int = i32()
    assignment_timestamp: int = i64(tag=0)


@message(api_key=7, versions=(0, 0))
class ConsumerGroupTargetAssignmentMemberKey:
    group_id: str = string()
    member_id: str = string()


@struct
class TargetTopicPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(i32())


@message(api_key=7, versions=(0, 0), flexible=0)
class ConsumerGroupTargetAssignmentMemberValue:
    topic_partitions: list[TargetTopicPartitions] = array(TargetTopicPartitions)


@message(api_key=8, versions=(0, 0))
class ConsumerGroupCurrentMemberAssignmentKey:
    group_id: str = string()
    member_id: str = string()


@struct
class CurrentTopicPartitions:
    topic_id: bytes = uuid()
    partitions: list[int] = array(i32())
    assignment_epochs: list[int] = array(i32(), tag=0)  # when each was assigned, in the order of `partitions`


@message(api_key=8, versions=(0, 0), flexible=0)
class ConsumerGroupCurrentMemberAssignmentValue:
    member_epoch: int = i32()
    previous_member_epoch: int = i32()
    state: int = i8()
    assigned_partitions: list[CurrentTopicPartitions] = array(CurrentTopicPartitions)
    partitions_pending_revocation: list[CurrentTopicPartitions] = array(CurrentTopicPartitions)


@message(api_key=16, versions=(0, 0))
class ConsumerGroupRegularExpressionKey:
    group_id: str = string()
    regular_expression: str = string()


@message(api_key=16, versions=(0, 0), flexible=0)
class ConsumerGroupRegularExpressionValue:
    topics: list[str] = array(string())
    version: int = i64()
    timestamp: int = i64()


# ── groups that are not served ───────────────────────────────────────────────────────


SHARE, STREAMS = "share", "streams"


class UnservedGroupKey(NamedTuple):
    """The key of a part of a share or streams group: its type, the group, and the member if it is about one."""

    type: int
    group_id: str
    member_id: str = ""


class Part(NamedTuple):
    """A record type of a group that is not served: share or streams, and the group itself or a member of it."""

    kind: str
    is_group: bool = False
    is_member: bool = False


PARTS: Mapping[int, Part] = {
    10: Part(SHARE, is_member=True),
    11: Part(SHARE, is_group=True),
    12: Part(SHARE),
    13: Part(SHARE),
    14: Part(SHARE),
    15: Part(SHARE),
    17: Part(STREAMS, is_group=True),
    19: Part(STREAMS, is_member=True),
    20: Part(STREAMS),
    21: Part(STREAMS),
    22: Part(STREAMS),
    23: Part(STREAMS),
}


# ── to bytes and back ────────────────────────────────────────────────────────────────


class GroupRecord(NamedTuple):
    """A record of `__consumer_offsets`: key and value; `producer_id` if it belongs to a transaction."""

    key: Any
    value: Any | None  # None: a tombstone
    producer_id: int = NO_PRODUCER


class TransactionEnded(NamedTuple):
    """A transaction marker: offsets that this producer committed inside its transaction count now, or are dropped."""

    producer_id: int
    committed: bool


Replayed: TypeAlias = GroupRecord | TransactionEnded


class _Kind(NamedTuple):
    """A type of record: its classes, the version that is written, and the newest that can be read."""

    key: type
    value: type
    version: int = 0
    newest: int = 0


OFFSET_COMMIT = 1  # the one kind whose value has a codec of its own

KINDS: Mapping[int, _Kind] = {
    0: _Kind(OffsetCommitKey, OffsetCommitValue),
    OFFSET_COMMIT: _Kind(OffsetCommitKey, OffsetCommitValue, 4, 4),
    2: _Kind(GroupMetadataKey, GroupMetadataValue, 3, 4),
    3: _Kind(ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: _Kind(ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: _Kind(ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: _Kind(ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: _Kind(ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: _Kind(ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    16: _Kind(ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
}
_TYPE_OF: Mapping[type, int] = {kind.key: number for number, kind in KINDS.items()}


def encode_record(record: GroupRecord) -> tuple[bytes, bytes | None]:
    """Key and value as they stand in the log."""
    number = _TYPE_OF[type(record.key)]
    key = _INT16.pack(number) + encode_message(record.key, 0)
    if record.value is None:
        return key, None
    if number == OFFSET_COMMIT:
        return key, encode_value(record.value)
    version = KINDS[number].version
    return key, _INT16.pack(version) + encode_message(record.value, version)


def decode_record(
    key: bytes | None, value: bytes | None, producer_id: int = NO_PRODUCER
) -> GroupRecord | None:
    """A record of the log, decoded; of a group that is not served only its key. None for a type that is not known
    here; raises CORRUPT_MESSAGE if it is no record of this topic."""
    try:
        return _decode(key or b"", value, producer_id)
    except (MalformedMessage, structs.error) as error:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"not a record of a group: {error}") from error


def _decode(key: bytes, value: bytes | None, producer_id: int) -> GroupRecord | None:
    (number,) = _INT16.unpack_from(key)
    if number in PARTS:
        return GroupRecord(_kept_part(number, key), value, producer_id)
    kind = KINDS.get(number)
    if kind is None:
        return None
    subject: Any = decoder(kind.key, 0)(key, _INT16.size, len(key))[0]
    if value is None:
        return GroupRecord(subject, None, producer_id)
    if number == OFFSET_COMMIT:
        return GroupRecord(subject, decode_value(value), producer_id)
    (version,) = _INT16.unpack_from(value)
    if not 0 <= version <= kind.newest:
        raise MalformedMessage(f"{kind.value.__name__} has no version {version}")
    state: Any = decoder(kind.value, version)(value, _INT16.size, len(value))[0]
    return GroupRecord(subject, state, producer_id)


def _kept_part(number: int, key: bytes) -> UnservedGroupKey:
    texts, at = list[str](), _INT16.size
    while at < len(key):
        (length,) = _INT16.unpack_from(key, at)
        at += _INT16.size + length
        if length < 0 or at > len(key):
            raise MalformedMessage(f"a key of type {number} is cut short")
        texts.append(key[at - length : at].decode("utf-8", "replace"))
    if not 1 <= len(texts) <= 2:
        raise MalformedMessage(f"a key of type {number} has {len(texts)} parts")
    return UnservedGroupKey(number, *texts)
