"""What the metadata log is made of: one record for each thing that happened to the cluster.

A record is the value of an ordinary record in `__cluster_metadata`, without a key:

    frame version 1 · type · version · body        three unsigned varints, then the fields

Types, versions and bytes are Kafka's (4.3), all of them, so that its tools can read our log and we can
open what it wrote. All are flexible in every version. A change record carries in its tagged section only
what changed: None there (or the default noted) is "as before", and an empty list is an empty list.

The log outlives the program: a field is never removed and a type's number never used again. What is
written is known at every `metadata.version` that the cluster can be set to (features.py): the newest
version but for two, whose newest brings directories that are set aside (cordoned) and is written only
where there are some. A reader takes any version it knows.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from andiron.model.errors import ErrorCode
from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import Buffer, MalformedMessage, read_uvarint, uvarint
from andiron.wire.schema import (
    array,
    boolean,
    data,
    f64,
    i8,
    i16,
    i32,
    i64,
    message,
    string,
    struct,
    u16,
    uuid,
)

FRAME_VERSION = 1

# ── brokers and controllers ──────────────────────────────────────────────────────────


@struct
class BrokerEndpoint:
    name: str = string()
    host: str = string()
    port: int = u16()
    security_protocol: int = i16()


@struct
class BrokerFeature:
    name: str = string()
    min_supported_version: int = i16()
    max_supported_version: int = i16()


@message(api_key=0, versions=(0, 4), flexible=0)
class RegisterBrokerRecord:
    """A broker has come, under a new epoch; it stays fenced until it has caught up."""

    broker_id: int = i32()
    is_migrating_zk_broker: bool = boolean(since=2)
    incarnation_id: bytes = uuid()
    broker_epoch: int = i64()
    end_points: list[BrokerEndpoint] = array(BrokerEndpoint)
    features: list[BrokerFeature] = array(BrokerFeature)
    rack: str | None = string(nullable=True, default=None)
    fenced: bool = boolean(default=True)
    in_controlled_shutdown: bool = boolean(since=1)
    log_dirs: list[bytes] = array(uuid(), since=3, tag=0)
    cordoned_log_dirs: list[bytes] | None = array(uuid(), since=4, tag=1, nullable=4, default=None)


@message(api_key=1, versions=(0, 0), flexible=0)
class UnregisterBrokerRecord:
    """A broker is gone for good."""

    broker_id: int = i32()
    broker_epoch: int = i64()


@message(api_key=7, versions=(0, 0), flexible=0)
class FenceBrokerRecord:
    """A broker may lead nothing; BrokerRegistrationChange says it nowadays."""

    id: int = i32()
    epoch: int = i64()


@message(api_key=8, versions=(0, 0), flexible=0)
class UnfenceBrokerRecord:
    """A broker may lead again; BrokerRegistrationChange says it nowadays."""

    id: int = i32()
    epoch: int = i64()


@message(api_key=17, versions=(0, 3), flexible=0)
class BrokerRegistrationChangeRecord:
    """A registered broker has changed its state."""

    broker_id: int = i32()
    broker_epoch: int = i64()
    fenced: int = i8(tag=0)  # 1 fenced, -1 unfenced, 0 as before
    in_controlled_shutdown: int = i8(since=1, tag=1)  # 1 it is, 0 as before
    log_dirs: list[bytes] = array(uuid(), since=2, tag=2)  # empty: as before
    cordoned_log_dirs: list[bytes] | None = array(uuid(), since=3, tag=3, nullable=3, default=None)


@struct
class ControllerEndpoint:
    name: str = string()
    host: str = string()
    port: int = u16()
    security_protocol: int = i16()


@struct
class ControllerFeature:
    name: str = string()
    min_supported_version: int = i16()
    max_supported_version: int = i16()


@message(api_key=27, versions=(0, 0), flexible=0)
class RegisterControllerRecord:
    """A controller tells where it is and what it supports."""

    controller_id: int = i32()
    incarnation_id: bytes = uuid()
    zk_migration_ready: bool = boolean()
    end_points: list[ControllerEndpoint] = array(ControllerEndpoint)
    features: list[ControllerFeature] = array(ControllerFeature)


# ── topics and partitions ────────────────────────────────────────────────────────────


@message(api_key=2, versions=(0, 0), flexible=0)
class TopicRecord:
    """A topic exists; its partitions follow."""

    name: str = string()
    topic_id: bytes = uuid()


@message(api_key=9, versions=(0, 0), flexible=0)
class RemoveTopicRecord:
    """A topic and all its partitions are gone."""

    topic_id: bytes = uuid()


@message(api_key=3, versions=(0, 2), flexible=0)
class PartitionRecord:
    """All there is to know of a partition. Its directories stand in the order of its replicas."""

    partition_id: int = i32(default=-1)
    topic_id: bytes = uuid()
    replicas: list[int] = array(i32())
    isr: list[int] = array(i32())
    removing_replicas: list[int] = array(i32())
    adding_replicas: list[int] = array(i32())
    leader: int = i32(default=-1)  # -1: none
    leader_recovery_state: int = i8(tag=0)  # 1: elected uncleanly, not recovered yet
    leader_epoch: int = i32(default=-1)
    partition_epoch: int = i32(default=-1)
    directories: list[bytes] = array(uuid(), since=1)
    eligible_leader_replicas: list[int] | None = array(i32(), since=2, tag=1, nullable=2, default=None)
    last_known_elr: list[int] | None = array(i32(), since=2, tag=2, nullable=2, default=None)


@message(api_key=5, versions=(0, 2), flexible=0)
class PartitionChangeRecord:
    """What is new about a partition: its partition epoch rises, with a leader its leader epoch too."""

    partition_id: int = i32(default=-1)
    topic_id: bytes = uuid()
    isr: list[int] | None = array(i32(), tag=0, nullable=True, default=None)
    leader: int = i32(tag=1, default=-2)  # -2 as before, -1 none
    replicas: list[int] | None = array(i32(), tag=2, nullable=True, default=None)
    removing_replicas: list[int] | None = array(i32(), tag=3, nullable=True, default=None)
    adding_replicas: list[int] | None = array(i32(), tag=4, nullable=True, default=None)
    leader_recovery_state: int = i8(tag=5, default=-1)  # -1 as before
    directories: list[bytes] | None = array(uuid(), since=1, tag=8, nullable=1, default=None)
    eligible_leader_replicas: list[int] | None = array(i32(), since=2, tag=6, nullable=2, default=None)
    last_known_elr: list[int] | None = array(i32(), since=2, tag=7, nullable=2, default=None)


@message(api_key=28, versions=(0, 0), flexible=0)
class ClearElrRecord:
    """Nobody is eligible any more for the partitions of a topic, or of all."""

    topic_name: str = string()  # empty: all


# ── settings, features, quotas, producer ids ─────────────────────────────────────────


@message(api_key=4, versions=(0, 0), flexible=0)
class ConfigRecord:
    """A setting of a topic, a broker or a group has this value; null takes it away."""

    resource_type: int = i8()
    resource_name: str = string()
    name: str = string()
    value: str | None = string(nullable=True)


@message(api_key=12, versions=(0, 0), flexible=0)
class FeatureLevelRecord:
    """A feature is finalized at this level; 0 takes it away."""

    name: str = string()
    feature_level: int = i16()


@struct
class EntityData:
    entity_type: str = string()
    entity_name: str | None = string(nullable=True)  # null: the default entity


@message(api_key=14, versions=(0, 0), flexible=0)
class ClientQuotaRecord:
    """A quota of an entity has this value, or is removed."""

    entity: list[EntityData] = array(EntityData)
    key: str = string()
    value: float = f64()
    remove: bool = boolean()


@message(api_key=15, versions=(0, 0), flexible=0)
class ProducerIdsRecord:
    """A broker was given all producer ids below this one that nobody had before."""

    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)
    next_producer_id: int = i64()


# ── who may do what ──────────────────────────────────────────────────────────────────


@message(api_key=11, versions=(0, 0), flexible=0)
class UserScramCredentialRecord:
    """A user can log in with this."""

    name: str = string()
    mechanism: int = i8()
    salt: bytes = data()
    stored_key: bytes = data()
    server_key: bytes = data()
    iterations: int = i32()


@message(api_key=22, versions=(0, 0), flexible=0)
class RemoveUserScramCredentialRecord:
    """A user can no longer log in with this mechanism."""

    name: str = string()
    mechanism: int = i8()


@message(api_key=18, versions=(0, 0), flexible=0)
class AccessControlEntryRecord:
    """An access rule; its id is what it is removed by."""

    id: bytes = uuid()
    resource_type: int = i8()
    resource_name: str = string()
    pattern_type: int = i8()
    principal: str = string()
    host: str = string()
    operation: int = i8()
    permission_type: int = i8()


@message(api_key=19, versions=(0, 0), flexible=0)
class RemoveAccessControlEntryRecord:
    """An access rule holds no longer."""

    id: bytes = uuid()


@message(api_key=10, versions=(0, 0), flexible=0)
class DelegationTokenRecord:
    """A token by which its owner's rights can be used until it expires."""

    owner: str = string()
    requester: str = string()
    renewers: list[str] = array(string())
    issue_timestamp: int = i64()
    max_timestamp: int = i64()
    expiration_timestamp: int = i64()
    token_id: str = string()


@message(api_key=26, versions=(0, 0), flexible=0)
class RemoveDelegationTokenRecord:
    """A token is good for nothing any more."""

    token_id: str = string()


# ── about the log itself ─────────────────────────────────────────────────────────────


@message(api_key=20, versions=(0, 0), flexible=0)
class NoOpRecord:
    """Nothing happened; the log's end moves, so that observers see they are not lagging."""


@message(api_key=21, versions=(0, 0), flexible=0)
class ZkMigrationStateRecord:
    """How far a cluster had come on its way from ZooKeeper; Kafka 4 reads it and does nothing about it."""

    zk_migration_state: int = i8()


@message(api_key=23, versions=(0, 0), flexible=0)
class BeginTransactionRecord:
    """What follows counts only once it has ended: too much for one batch, but one change."""

    name: str | None = string(tag=0, nullable=True, default=None)


@message(api_key=24, versions=(0, 0), flexible=0)
class EndTransactionRecord:
    """What followed the beginning counts now."""


@message(api_key=25, versions=(0, 0), flexible=0)
class AbortTransactionRecord:
    """What followed the beginning never happened."""

    reason: str | None = string(tag=0, nullable=True, default=None)


MetadataRecord: TypeAlias = (
    RegisterBrokerRecord
    | UnregisterBrokerRecord
    | TopicRecord
    | PartitionRecord
    | ConfigRecord
    | PartitionChangeRecord
    | FenceBrokerRecord
    | UnfenceBrokerRecord
    | RemoveTopicRecord
    | UserScramCredentialRecord
    | FeatureLevelRecord
    | ClientQuotaRecord
    | ProducerIdsRecord
    | BrokerRegistrationChangeRecord
    | AccessControlEntryRecord
    | RemoveAccessControlEntryRecord
    | NoOpRecord
    | RemoveUserScramCredentialRecord
    | BeginTransactionRecord
    | EndTransactionRecord
    | AbortTransactionRecord
    | RegisterControllerRecord
    | ClearElrRecord
    | DelegationTokenRecord
    | RemoveDelegationTokenRecord
    | ZkMigrationStateRecord
)

_BY_TYPE: dict[int, Any] = {cls.__api_key__: cls for cls in get_args(MetadataRecord)}
_WITHOUT_CORDONED: dict[type, int] = {RegisterBrokerRecord: 3, BrokerRegistrationChangeRecord: 2}
_TYPE_AND_WRITTEN: dict[type, tuple[int, int]] = {
    cls: (number, _WITHOUT_CORDONED.get(cls, cls.__versions__[1])) for number, cls in _BY_TYPE.items()
}


def encode_record(record: MetadataRecord, version: int | None = None) -> bytes:
    """The value under which a record is stored, in the version that all levels know unless told."""
    number, written = _TYPE_AND_WRITTEN[type(record)]
    if version is None:
        version = written + bool(getattr(record, "cordoned_log_dirs", None))
    body = encode_message(record, version)
    return b"".join((uvarint(FRAME_VERSION), uvarint(number), uvarint(version), body))


def decode_record(value: Buffer) -> MetadataRecord:
    """The record stored under a value; what is not known here is refused by name."""
    frame, pos = read_uvarint(value, 0)
    if frame != FRAME_VERSION:
        raise ErrorCode.UNSUPPORTED_VERSION.error(f"a metadata record in frame version {frame}")
    number, pos = read_uvarint(value, pos)
    version, pos = read_uvarint(value, pos)
    cls = _BY_TYPE.get(number)
    if cls is None:
        raise ErrorCode.UNSUPPORTED_VERSION.error(f"a metadata record of type {number}")
    first, last = cls.__versions__
    if not first <= version <= last:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"{cls.__name__} version {version}; known are {first} to {last}"
        )
    record: MetadataRecord
    record, pos = decoder(cls, version)(value, pos, len(value))
    if pos != len(value):
        raise MalformedMessage(f"{len(value) - pos} bytes follow a {cls.__name__}")
    return record
