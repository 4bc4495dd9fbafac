"""Reading the files of a stopped node, ours or Apache Kafka's, without touching them.

    <data>/orders-0/00000000000000000000.log          batches             segment_batches
                    00000000000000000000.index        offset → position   offset_entries
                    00000000000000000000.timeindex    time → offset       time_entries
                    00000000000000000000.txnindex     aborted             abort_entries
                    00000000000000000000.snapshot     producers           producers
                    leader-epoch-checkpoint           epoch → offset      epochs
    <data>/*-offset-checkpoint                        partition → offset  offsets

This is the one module of the command line that knows the log's formats; log.py prints what it gives,
verify.py holds it to what it should be. Files are opened for reading only: a log that is looked at does
not change.

A broker that was killed leaves its indexes as long as it had reserved them, filled with zeros behind the
last entry. Those are not entries.
"""

from __future__ import annotations

import enum
import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from andiron.controller.records import decode_record
from andiron.log import flushed_mark, layout, partition_metadata, scan
from andiron.log.abort_index import AbortedTransaction, AbortIndex
from andiron.log.checkpoints import CLEANED_UPTO, LOG_STARTS, RECOVERY_POINTS, WATERMARKS, decode_offsets
from andiron.log.directory import CLEAN_MARK, META, Identity
from andiron.log.leader_epochs import LeaderEpochs
from andiron.log.offset_index import OffsetIndex
from andiron.log.producer_snapshots import decode_snapshot
from andiron.log.producers import ProducerState
from andiron.log.time_index import TimeIndex
from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.quorum.records import decode_control
from andiron.records.batch import Batch
from andiron.records.control import ControlType, control_type, end_marker_of
from andiron.records.record import Record
from andiron.wire.schema import Struct

METADATA_TOPIC = "__cluster_metadata"
QUORUM_STATE = "quorum-state"
METADATA_SNAPSHOT = ".checkpoint"  # batches, like a segment


class Kind(enum.Enum):
    """What a file is, by its name."""

    SEGMENT = "segment"
    OFFSET_INDEX = "offset index"
    TIME_INDEX = "time index"
    ABORT_INDEX = "transaction index"
    PRODUCERS = "producer snapshot"
    EPOCHS = "leader epochs"
    OFFSETS = "offset checkpoint"
    PARTITION_METADATA = "partition metadata"
    META = "meta.properties"
    JSON = "JSON"
    FLUSHED = "flushed offset"
    UNKNOWN = "unknown"


_BY_SUFFIX = {
    layout.LOG: Kind.SEGMENT,
    layout.INDEX: Kind.OFFSET_INDEX,
    layout.TIME_INDEX: Kind.TIME_INDEX,
    layout.ABORT_INDEX: Kind.ABORT_INDEX,
    layout.SNAPSHOT: Kind.PRODUCERS,
}
_BY_NAME = {
    layout.LEADER_EPOCHS: Kind.EPOCHS,
    layout.PARTITION_METADATA: Kind.PARTITION_METADATA,
    META: Kind.META,
    QUORUM_STATE: Kind.JSON,
    CLEAN_MARK: Kind.JSON,
    flushed_mark.FILE: Kind.FLUSHED,
    **dict.fromkeys((RECOVERY_POINTS, LOG_STARTS, WATERMARKS, CLEANED_UPTO), Kind.OFFSETS),
}


class DumpError(AndironError):
    """A file that cannot be read as what it is."""


class DataFile(NamedTuple):
    """A file of a log: `base` is its segment's base offset, `state` .deleted, .cleaned or .swap, by its name."""

    path: str
    kind: Kind
    base: int = 0
    state: str = ""

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def is_metadata(self) -> bool:
        """Whether its records are those of the cluster's metadata."""
        folder = os.path.basename(os.path.dirname(os.path.abspath(self.path)))
        return self.name.endswith(METADATA_SNAPSHOT) or folder.startswith(f"{METADATA_TOPIC}-")


def data_file(path: str) -> DataFile:
    """The kind, base offset and state of a file, by its name."""
    name = os.path.basename(path)
    if name.endswith(METADATA_SNAPSHOT):
        base = name.partition("-")[0]
        return DataFile(path, Kind.SEGMENT, int(base) if base.isdecimal() else 0)
    parsed = layout.parse_file_name(name)
    if parsed is not None:
        return DataFile(path, _BY_SUFFIX[parsed.kind], parsed.base, parsed.state)
    return DataFile(path, _BY_NAME.get(name, Kind.UNKNOWN))


def data_files(directory: str) -> list[DataFile]:
    """The files of a folder, in the order of their names."""
    return [
        data_file(os.path.join(directory, entry))
        for entry in sorted(os.listdir(directory))
        if os.path.isfile(os.path.join(directory, entry))
    ]


def partition_folder(path: str) -> TopicPartition | None:
    """The partition that a folder holds, by its name and its files; None if it holds none, or one that is given up."""
    try:
        parsed = layout.parse_folder_name(os.path.basename(os.path.abspath(path)))
        held = os.listdir(path)
    except (layout.LayoutError, OSError):
        return None
    return None if parsed.state or not layout.is_partition(held) else parsed.partition


def was_stopped_cleanly(directory: str) -> bool:
    """Whether a log directory has the .kafka_cleanshutdown file of a node that was stopped in order."""
    return os.path.exists(os.path.join(directory, CLEAN_MARK))


# ── contents ─────────────────────────────────────────────────────────────────────────


class ReadOnlyFile:
    """A file as the log's scanner wants it, which it cannot write to."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self._descriptor).st_size

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`."""
        return os.pread(self._descriptor, length, position)

    def append(self, data: object) -> None:
        """Refused: files of a log are opened for reading only."""
        raise PermissionError(self.path)

    truncate = append

    def sync(self) -> None:
        """Nothing: no byte is written."""

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def segment_batches(path: str) -> Iterator[tuple[int, Batch]]:
    """Each batch with its position; CORRUPT_MESSAGE where one should begin and does not."""
    file = ReadOnlyFile(path)
    position = 0
    try:
        for batch in scan.batches(file, 0, file.size):
            yield position, batch
            position += batch.size
    finally:
        file.close()


def offset_entries(file: DataFile) -> list[tuple[int, int]]:
    """(last offset of a batch, its position)."""
    return [(file.base + relative, position) for relative, position in _entries(file.path, OffsetIndex.form)]


def time_entries(file: DataFile) -> list[tuple[int, int]]:
    """(timestamp, an offset up to which nothing is later)."""
    return [(timestamp, file.base + relative) for timestamp, relative in _entries(file.path, TimeIndex.form)]


def abort_entries(file: DataFile) -> list[AbortedTransaction]:
    """The aborted transactions of a .txnindex."""
    return [AbortedTransaction(*fields) for _, *fields in _entries(file.path, AbortIndex.form)]


def producers(path: str) -> list[ProducerState]:
    """The producers of a snapshot; an error if its checksum does not hold."""
    return list(decode_snapshot(contents(path)))


def epochs(path: str) -> list[tuple[int, int]]:
    """(leader epoch, its first offset), as far as they rise."""
    return [(int(epoch), int(start)) for epoch, start in LeaderEpochs.decode(contents(path)).entries()]


def offsets(path: str) -> dict[TopicPartition, int]:
    """An offset for each partition; Kafka makes the file before it has anything to write."""
    data = contents(path)
    return {partition: int(offset) for partition, offset in decode_offsets(data).items()} if data else {}


def flushed_offsets(path: str) -> list[int]:
    """Up to where the metadata log was flushed, the last one being the latest."""
    return [int(offset) for offset in flushed_mark.decode(contents(path))]


def topic_id(path: str) -> str:
    """The topic's id out of partition.metadata."""
    return partition_metadata.id_text(partition_metadata.decode(contents(path)))


def identity(path: str) -> Identity:
    """The meta.properties of a log directory: cluster id, node id, directory id."""
    return Identity.decode(contents(path), path)


def contents(path: str) -> bytes:
    """A small file, whole."""
    with open(path, "rb") as file:
        return file.read()


def metadata_fields(record: Record) -> dict[str, Any]:
    """A record of the metadata log: what it is, and its fields."""
    return _named(decode_record(record.value or b""))


def control_fields(batch: Batch, record: Record) -> dict[str, Any]:
    """A control record: what it is, and its fields."""
    kind = control_type(record.key)
    if kind in (ControlType.COMMIT, ControlType.ABORT):
        marker = end_marker_of(batch)
        return {"name": kind.name, "coordinator_epoch": marker.coordinator_epoch if marker else -1}
    if kind is ControlType.UNKNOWN:
        return {"name": kind.name}
    return _named(decode_control(kind, record.value or b""))


def _named(message: object) -> dict[str, Any]:
    return {"name": type(message).__name__, "fields": _plain(message)}


def _plain(value: Any, kind: str = "") -> Any:
    """A message as JSON has it; ids as Kafka writes them."""
    if isinstance(value, Struct):
        return {
            each.name: _plain(getattr(value, each.name), getattr(each.of, "kind", each.kind))
            for each in value.__fields__
        }
    if isinstance(value, list):
        return [_plain(each, kind) for each in value]
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        return partition_metadata.id_text(raw) if kind == "uuid" else raw.hex()
    return value


def _entries(path: str, form: struct.Struct) -> list[tuple[int, ...]]:
    data = contents(path)
    whole = len(data) // form.size * form.size
    if data[whole:].strip(b"\0"):
        raise DumpError("it ends in a part of an entry")
    found = list(form.iter_unpack(data[:whole]))
    while found and not any(found[-1]):
        found.pop()
    return found
