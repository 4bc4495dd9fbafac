"""A committed offset in `__consumer_offsets`: its record, and its value to bytes and back.

    key     1 · group · topic · partition
    value   4 · offset · leader epoch · length and metadata · commit time · 1 tagged field: topic id

Nearly all records of that topic are these: each commit writes some, and a node that takes over a partition reads
them all. So the value, in the layout that is written today, is packed and unpacked by hand. Whatever looks
different in any way goes through the declaration, as all other records do; a property holds the two equal.

An offset that has a time of its own to expire at (the retention time in OffsetCommit, which clients gave before
2.1) is written in version 1, the only one with a place for it.
"""

from __future__ import annotations

import struct as structs

from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import MalformedMessage
from andiron.wire.schema import i32, i64, message, string, uuid

NO_EXPIRY = -1
WRITTEN_VERSION = 4
EXPIRING_VERSION = 1
VERSIONS = (0, 4)


@message(api_key=1, versions=(0, 0))
class OffsetCommitKey:
    group: str = string()
    topic: str = string()
    partition: int = i32()


@message(api_key=1, versions=VERSIONS, flexible=4)
class OffsetCommitValue:
    offset: int = i64()
    leader_epoch: int = i32(since=3, default=-1)
    metadata: str = string()
    commit_timestamp: int = i64()
    expire_timestamp: int = i64(since=1, until=1, default=NO_EXPIRY)
    topic_id: bytes = uuid(since=4, tag=0)


_VERSION = structs.Struct(">h")
_HEAD = structs.Struct(">hqiB")  # version, offset, leader epoch, length of the metadata + 1
_TAIL = structs.Struct(">q3s16s")  # commit time, what is tagged, topic id
_ID_IS_TAGGED = bytes((1, 0, 16))  # one field, its number, its size
_LENGTH_END = 0x80  # length + 1 takes one byte below
_NO_ID = bytes(16)

_unpack_head, _unpack_tail = _HEAD.unpack_from, _TAIL.unpack_from
_HEAD_SIZE, _TAIL_SIZE = _HEAD.size, _TAIL.size


def encode_value(value: OffsetCommitValue) -> bytes:
    """A value, with its version before it."""
    if value.expire_timestamp != NO_EXPIRY:
        return _VERSION.pack(EXPIRING_VERSION) + encode_message(value, EXPIRING_VERSION)
    metadata, topic_id = value.metadata.encode(), value.topic_id
    length = len(metadata) + 1
    if length >= _LENGTH_END or topic_id == _NO_ID:
        return _VERSION.pack(WRITTEN_VERSION) + encode_message(value, WRITTEN_VERSION)
    head = _HEAD.pack(WRITTEN_VERSION, value.offset, value.leader_epoch, length)
    return head + metadata + _TAIL.pack(value.commit_timestamp, _ID_IS_TAGGED, topic_id)


def decode_value(data: bytes) -> OffsetCommitValue:
    """A value that has its version before it. Raises MalformedMessage or struct.error if it is none."""
    if len(data) >= _HEAD_SIZE + _TAIL_SIZE:
        version, offset, leader_epoch, length = _unpack_head(data)
        stop = _HEAD_SIZE - 1 + length
        if version == WRITTEN_VERSION and 0 < length < _LENGTH_END and len(data) == stop + _TAIL_SIZE:
            commit_timestamp, tagged, topic_id = _unpack_tail(data, stop)
            if tagged == _ID_IS_TAGGED:
                metadata = _text(data[_HEAD_SIZE:stop]) if length > 1 else ""
                return OffsetCommitValue(
                    offset, leader_epoch, metadata, commit_timestamp, NO_EXPIRY, topic_id
                )
    return _decode_any(data)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"OffsetCommitValue: the metadata is no text: {error}") from error


def _decode_any(data: bytes) -> OffsetCommitValue:
    (version,) = _VERSION.unpack_from(data)
    if not VERSIONS[0] <= version <= VERSIONS[1]:
        raise MalformedMessage(f"OffsetCommitValue has no version {version}")
    value, _ = decoder(OffsetCommitValue, version)(data, _VERSION.size, len(data))
    return value
