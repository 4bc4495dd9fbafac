"""Control batches: records that the cluster writes to itself, and consumers never see.

    key     version 0 · type             two int16
    value   depends on the type

A commit or abort marker ends one producer's transaction on one partition: it carries that
producer's id and epoch, and in its value the epoch of the coordinator that decided. The types
from LEADER_CHANGE on belong to the metadata quorum; their values are messages of the protocol,
which `quorum/` encodes.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable
from typing import NamedTuple

from andiron.model.errors import ErrorCode
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record, records_of

_KEY = struct.Struct(">hh")
_END_MARKER = struct.Struct(">hi")
_VERSION = 0


class ControlType(enum.IntEnum):
    """What a control record says."""

    UNKNOWN = -1  # a type of a later Kafka: to be skipped, not to fail on
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndMarker(NamedTuple):
    """How a transaction ended, and which coordinator said so."""

    committed: bool
    coordinator_epoch: int


def control_batch(
    entries: Iterable[tuple[ControlType, bytes]],
    *,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    transactional: bool = False,
) -> bytearray:
    """A control batch with one record for each (type, value)."""
    return build(
        (Record(0, timestamp, _KEY.pack(_VERSION, kind), value) for kind, value in entries),
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=transactional,
        control=True,
    )


def end_marker(
    committed: bool,
    *,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytearray:
    """The batch that ends a producer's transaction on a partition."""
    kind = ControlType.COMMIT if committed else ControlType.ABORT
    return control_batch(
        [(kind, _END_MARKER.pack(_VERSION, coordinator_epoch))],
        timestamp=timestamp,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
    )


def control_type(key: bytes | None) -> ControlType:
    """The type that a control record's key names."""
    if key is None or len(key) < _KEY.size:
        raise ErrorCode.INVALID_RECORD.error(f"a control record's key is {key!r}")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise ErrorCode.INVALID_RECORD.error(f"a control record's key has version {version}")
    return ControlType(number) if number in _KNOWN else ControlType.UNKNOWN


def control_records(batch: Batch) -> list[tuple[ControlType, bytes | None]]:
    """Type and value of each record of a control batch."""
    return [(control_type(record.key), record.value) for record in records_of(batch)]


def end_marker_of(batch: Batch) -> EndMarker | None:
    """How the transaction ended that this control batch ends; None if it is of another kind."""
    for kind, value in control_records(batch):
        if kind in (ControlType.COMMIT, ControlType.ABORT):
            if value is None or len(value) < _END_MARKER.size:
                raise ErrorCode.INVALID_RECORD.error(f"an end marker's value is {value!r}")
            _, coordinator_epoch = _END_MARKER.unpack_from(value)
            return EndMarker(kind is ControlType.COMMIT, coordinator_epoch)
    return None


_KNOWN = frozenset(int(kind) for kind in ControlType if kind >= 0)
