"""What the quorum writes into its own log: control records about leaders, voters and snapshots.

They travel in control batches among the metadata records and are never seen by the controller. The
key names the type (`records/control.py`), the value is one of these messages. Each begins with its own
version, and that is the version in which it is written and read:

    version · fields                  Kafka writes 0 everywhere, and reads nothing else

A leader's first act is to append a LeaderChangeMessage: once that is committed, so is everything before
it. A snapshot begins with a header and ends with a footer; without one it was cut short. The voters and
the KRaft version take effect when appended, not when committed.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from andiron.model.errors import ErrorCode
from andiron.records.control import ControlType
from andiron.wire.codec import decode_message, encode_message
from andiron.wire.primitives import Buffer, MalformedMessage
from andiron.wire.schema import array, i16, i32, i64, message, nested, string, struct, u16, uuid


@struct
class LeaderChangeVoter:
    voter_id: int = i32()
    voter_directory_id: bytes = uuid(since=1)


@message(api_key=ControlType.LEADER_CHANGE, versions=(0, 1), flexible=0)
class LeaderChangeMessage:
    """A leader begins its epoch; these could vote, and these voted for it."""

    version: int = i16()
    leader_id: int = i32()
    voters: list[LeaderChangeVoter] = array(LeaderChangeVoter)
    granting_voters: list[LeaderChangeVoter] = array(LeaderChangeVoter)


@message(api_key=ControlType.SNAPSHOT_HEADER, versions=(0, 0), flexible=0)
class SnapshotHeaderRecord:
    """A snapshot begins; the newest record it stands for was appended at this time."""

    version: int = i16()
    last_contained_log_timestamp: int = i64()


@message(api_key=ControlType.SNAPSHOT_FOOTER, versions=(0, 0), flexible=0)
class SnapshotFooterRecord:
    """A snapshot is whole."""

    version: int = i16()


@message(api_key=ControlType.KRAFT_VERSION, versions=(0, 0), flexible=0)
class KRaftVersionRecord:
    """The quorum's own protocol level: from 1 on its voters can change."""

    version: int = i16()
    kraft_version: int = i16()


@struct
class Endpoint:
    name: str = string()
    host: str = string()
    port: int = u16()


@struct
class KRaftVersionFeature:
    min_supported_version: int = i16()
    max_supported_version: int = i16()


@struct
class Voter:
    voter_id: int = i32()
    voter_directory_id: bytes = uuid()
    endpoints: list[Endpoint] = array(Endpoint)
    kraft_version_feature: KRaftVersionFeature = nested(KRaftVersionFeature)


@message(api_key=ControlType.KRAFT_VOTERS, versions=(0, 0), flexible=0)
class VotersRecord:
    """All voters from here on, and where to find them."""

    version: int = i16()
    voters: list[Voter] = array(Voter)


ControlRecord: TypeAlias = (
    LeaderChangeMessage | SnapshotHeaderRecord | SnapshotFooterRecord | KRaftVersionRecord | VotersRecord
)

_BY_TYPE: dict[int, Any] = {cls.__api_key__: cls for cls in get_args(ControlRecord)}
_TYPES: dict[type, ControlType] = {cls: ControlType(number) for number, cls in _BY_TYPE.items()}


def encode_control(record: ControlRecord) -> tuple[ControlType, bytes]:
    """Type and value of a control record: an entry of `records.control.control_batch`."""
    return _TYPES[type(record)], encode_message(record, record.version)


def decode_control(kind: ControlType, value: Buffer) -> ControlRecord:
    """The control record of this type and value; what is not known here is refused by name."""
    cls = _BY_TYPE.get(kind)
    if cls is None:
        raise ErrorCode.UNSUPPORTED_VERSION.error(f"a control record of type {kind.name} in the quorum's log")
    if len(value) < 2:
        raise MalformedMessage(f"a {cls.__name__} of {len(value)} bytes")
    version = int.from_bytes(value[:2], "big", signed=True)
    first, last = cls.__versions__
    if not first <= version <= last:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"{cls.__name__} version {version}; known are {first} to {last}"
        )
    record: ControlRecord = decode_message(cls, version, value)
    return record
