"""What consumers of a classic group tell each other through the broker: subscriptions and assignments.

    member  ── subscription ──▶ JoinGroup ──▶ leader      the topics it wants, and what it owns
    leader  ── assignment ────▶ SyncGroup ──▶ member      the partitions it gets

To the classic protocol both are opaque bytes, and their meaning is a matter of the group's protocol type;
these are the ones of type "consumer", which every Kafka client speaks:

    version (int16) · fields

Version 1 adds the partitions that a member owns, 2 the generation in which it owned them, 3 its rack. New
versions only ever add fields behind the others, so one that we do not know is read as the last that we do.
The bytes come from clients. Some say a version and leave out what it added; their groups work, so what every
version begins with is read of them. What cannot be read at all is MalformedMessage and nothing else.
"""

from __future__ import annotations

import struct as structs
from typing import TypeVar

from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import Buffer, MalformedMessage
from andiron.wire.schema import array, data, i32, message, string, struct

PROTOCOL_TYPE = "consumer"
VERSION_MAX = 3
NO_API = -1  # they travel inside of messages
_VERSION = structs.Struct(">h")

M = TypeVar("M")


@struct
class AssignedTopic:
    topic: str = string()
    partitions: list[int] = array(i32())


@message(api_key=NO_API, versions=(0, VERSION_MAX))
class Subscription:
    topics: list[str] = array(string())
    user_data: bytes | None = data(nullable=True, default=None)
    owned_partitions: list[AssignedTopic] = array(AssignedTopic, since=1)
    generation_id: int = i32(since=2, default=-1)
    rack_id: str | None = string(since=3, nullable=3, default=None)


@message(api_key=NO_API, versions=(0, VERSION_MAX))
class Assignment:
    assigned_partitions: list[AssignedTopic] = array(AssignedTopic)
    user_data: bytes | None = data(nullable=True, default=None)


def read_subscription(buf: Buffer) -> Subscription:
    """What a member of type "consumer" wants."""
    return _read(Subscription, buf)


def read_assignment(buf: Buffer) -> Assignment:
    """What it got; no bytes at all are no partitions."""
    return _read(Assignment, buf) if len(buf) else Assignment()


def versioned_bytes(told: Subscription | Assignment, version: int = VERSION_MAX) -> bytes:
    """The bytes of either, with the version before them."""
    return _VERSION.pack(version) + encode_message(told, version)


def _read(cls: type[M], buf: Buffer) -> M:
    if len(buf) < _VERSION.size:
        raise MalformedMessage(f"{len(buf)} bytes are no {cls.__name__.lower()}")
    (version,) = _VERSION.unpack_from(buf, 0)
    if version < 0:
        raise MalformedMessage(f"a {cls.__name__.lower()} of version {version}")
    try:
        return decoder(cls, min(version, VERSION_MAX))(buf, _VERSION.size, len(buf))[0]
    except MalformedMessage:
        return decoder(cls, 0)(buf, _VERSION.size, len(buf))[0]
