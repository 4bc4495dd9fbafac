"""Producer snapshots: what producers.py knows at an offset, so that a start need not replay the log.

    version 2 · crc 4 · count 4 · count × entry                    version 1, CRC-32C of what follows it
    entry: producer id 8 · epoch 2 · last sequence 4 · last offset 8 · offset delta 4 · timestamp 8
           · coordinator epoch 4 · first offset of the open transaction 8

One is taken when a segment begins and lives as long as that segment; one more when the log is
closed. They are written without waiting for the disk: a torn one fails its checksum, and the one
before it serves, with more of the log to replay.

Only the last batch of each producer is kept, so after a restart a duplicate of an earlier one is
out of order instead: the same as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final

from andiron.log import layout
from andiron.log.disk import Disk, File
from andiron.log.producers import BatchMetadata, Producers, ProducerState
from andiron.model.errors import AndironError
from andiron.records.crc32c import crc32c

_VERSION: Final = 1
_HEAD = Struct(">hI")
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_EMPTY_BYTES = _HEAD.size + _COUNT.size
_NOTHING = BatchMetadata(-1, -1, 0, -1)


class SnapshotError(AndironError):
    """A snapshot that cannot be used."""


def encode_snapshot(producers: Producers) -> bytes:
    """The contents of a .snapshot file."""
    body = bytearray(_COUNT.pack(len(producers)))
    for state in producers:
        last = state.batches[-1] if state.batches else _NOTHING
        body += _ENTRY.pack(
            state.id,
            state.epoch,
            last.last_sequence,
            last.last_offset,
            last.offset_delta,
            state.last_timestamp,
            state.coordinator_epoch,
            state.transaction_start,
        )
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes) -> Producers:
    """The producers of a .snapshot file; SnapshotError if it is not whole."""
    if len(data) < _EMPTY_BYTES:
        raise SnapshotError(f"{len(data)} bytes are too few")
    version, crc = _HEAD.unpack_from(data)
    (count,) = _COUNT.unpack_from(data, _HEAD.size)
    if version != _VERSION:
        raise SnapshotError(f"version {version}, not {_VERSION}")
    if crc32c(data[_HEAD.size :]) != crc or len(data) != _EMPTY_BYTES + count * _ENTRY.size:
        raise SnapshotError("the checksum is not that of the contents")
    return Producers(map(_state, _ENTRY.iter_unpack(data[_EMPTY_BYTES:])))


def _state(entry: tuple[int, ...]) -> ProducerState:
    producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, transaction_start = entry
    state = ProducerState(producer_id, epoch)
    if offset >= 0:
        state.remember(BatchMetadata(sequence, offset, delta, timestamp))
    state.last_timestamp, state.coordinator_epoch = timestamp, coordinator_epoch
    state.transaction_start = transaction_start
    return state


class ProducerSnapshots:
    """The .snapshot files of one partition."""

    __slots__ = ("_directory", "_disk", "_offsets")

    def __init__(self, disk: Disk, directory: str, offsets: Iterable[int]) -> None:
        """`offsets` are those for which there is one."""
        self._disk, self._directory = disk, directory
        self._offsets = dict.fromkeys(offsets)

    @property
    def newest(self) -> int:
        """The offset of the newest; -1 if there is none."""
        return max(self._offsets, default=-1)

    def take(self, producers: Producers, offset: int) -> File:
        """Write one for `offset`; the file is for the next flush to bring to the disk."""
        file = self._disk.open(self._path(offset))
        file.truncate(0)
        file.append(encode_snapshot(producers))
        self._offsets[offset] = None
        return file

    def load(self, upto: int, notices: list[str]) -> tuple[int, Producers] | None:
        """The newest that is not above `upto` and can be used, with its offset."""
        for offset in sorted((offset for offset in self._offsets if offset <= upto), reverse=True):
            try:
                return offset, decode_snapshot(self._disk.read_file(self._path(offset)))
            except (SnapshotError, FileNotFoundError) as error:
                notices.append(f"{self._path(offset)} is not used: {error}")
                self.remove(offset)
        return None

    def remove(self, offset: int) -> None:
        """Remove the one for `offset`, if there is one."""
        if offset in self._offsets:
            del self._offsets[offset]
            self._disk.remove(self._path(offset))

    def keep(self, bases: Iterable[int], upto: int) -> None:
        """Remove those above `upto`, and of the others all but the newest and those of segments."""
        wanted = {*bases, max((offset for offset in self._offsets if offset <= upto), default=-1)}
        for offset in list(self._offsets):
            if offset > upto or offset not in wanted:
                self.remove(offset)

    def _path(self, offset: int) -> str:
        return f"{self._directory}/{layout.file_name(offset, layout.SNAPSHOT)}"
