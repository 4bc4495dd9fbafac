"""The records of `__transaction_state`: Kafka's TransactionLogKey and TransactionLogValue, byte for byte.

    key     version 0 (int16) · transactional id
    value   version (int16) · all there is to know of its transaction; none: the id is forgotten

One key a transactional id in a compacted topic, so the latest record is the whole state.

Read next: states.py, the automaton that these records walk through.
"""

from __future__ import annotations

import struct as structs
from typing import NamedTuple

from andiron.model.errors import ErrorCode
from andiron.wire.codec import decoder, encode_message
from andiron.wire.primitives import MalformedMessage
from andiron.wire.schema import array, i8, i16, i32, i64, message, string, struct

_INT16 = structs.Struct(">h")
KEY_VERSION = 0
WRITTEN_VERSION = 1  # flexible, as transaction.version 1 and above write it
NEWEST_VERSION = 1


@message(api_key=0, versions=(0, 0))
class TransactionLogKey:
    transactional_id: str = string()


@struct
class PartitionsSchema:
    topic: str = string()
    partition_ids: list[int] = array(i32())


@message(api_key=0, versions=(0, 1), flexible=1)
class TransactionLogValue:
    producer_id: int = i64()
    producer_epoch: int = i16()
    transaction_timeout_ms: int = i32()
    transaction_status: int = i8()
    transaction_partitions: list[PartitionsSchema] | None = array(PartitionsSchema, nullable=True)
    transaction_last_update_timestamp_ms: int = i64()
    transaction_start_timestamp_ms: int = i64()
    previous_producer_id: int = i64(since=1, tag=0, default=-1)
    next_producer_id: int = i64(since=1, tag=1, default=-1)
    client_transaction_version: int = i16(since=1, tag=2)
    next_producer_epoch: int = i16(since=1, tag=3, default=-1)


class TransactionRecord(NamedTuple):
    """A record of `__transaction_state`: a transactional id, and its transaction from now on."""

    transactional_id: str
    value: TransactionLogValue | None  # None: a tombstone, the id is forgotten


def encode_record(record: TransactionRecord) -> tuple[bytes, bytes | None]:
    """Key and value as they stand in the log."""
    key = _INT16.pack(KEY_VERSION) + encode_message(TransactionLogKey(record.transactional_id), 0)
    if record.value is None:
        return key, None
    return key, _INT16.pack(WRITTEN_VERSION) + encode_message(record.value, WRITTEN_VERSION)


def decode_record(key: bytes | None, value: bytes | None) -> TransactionRecord | None:
    """A record of the log, decoded; None if its key is of a version that is not known here. Raises CORRUPT_MESSAGE
    if it is no record of this topic."""
    try:
        return _decode(key or b"", value)
    except (MalformedMessage, structs.error) as error:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"not a record of a transaction: {error}") from error


def _decode(key: bytes, value: bytes | None) -> TransactionRecord | None:
    if _INT16.unpack_from(key)[0] != KEY_VERSION:
        return None
    subject, _ = decoder(TransactionLogKey, 0)(key, _INT16.size, len(key))
    if value is None:
        return TransactionRecord(subject.transactional_id, None)
    (version,) = _INT16.unpack_from(value)
    if not 0 <= version <= NEWEST_VERSION:
        raise MalformedMessage(f"the state has no version {version}")
    state, _ = decoder(TransactionLogValue, version)(value, _INT16.size, len(value))
    return TransactionRecord(subject.transactional_id, state)
