"""flushed-offset: up to where the metadata log has been flushed, noted beside it after each flush.

    12 bytes an entry: int64 offset, uint32 CRC-32C of it; the last one that is whole counts

Recovery scans all of the metadata log, whatever was flushed, and must know what it may cut: what was never flushed may
be torn by a power loss, what was flushed may not.

Raising the mark is an append without a sync. It comes after the fsync that it tells of, so whatever of it reaches the
disk is true: after a kill it is exact, after a power loss it may be behind. Where the log itself is cut the mark is
lowered, durably. Kafka does not know the file, and leaves it alone.
"""

from __future__ import annotations

from struct import Struct

from andiron.log.disk import Disk
from andiron.model.ids import Offset
from andiron.records.crc32c import crc32c

FILE = "flushed-offset"
SIZE_MAX = 12 * 1024

_OFFSET = Struct(">q")
_ENTRY = Struct(">qI")


class FlushedMark:
    """The mark of the log in one folder."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk, self._directory, self._path = disk, directory, f"{directory}/{FILE}"
        self._told = Offset(-1)

    def load(self) -> Offset:
        """Up to where the log had been flushed, as far as that is known; 0 if it is not."""
        try:
            told = decode(self._disk.read_file(self._path))
        except FileNotFoundError:
            return Offset(0)
        return told[-1] if told else Offset(0)

    def raise_to(self, end: Offset) -> None:
        """Everything below `end` has been flushed."""
        if end == self._told:
            return
        self._told = end
        file = self._disk.open(self._path)
        if file.size % _ENTRY.size or file.size >= SIZE_MAX:
            file.truncate(0)
        file.append(_entry(end))

    def lower_to(self, end: Offset) -> None:
        """The log ends at `end`, which may be before the mark; on the disk when this returns."""
        self._told = end
        self._disk.write_file(self._path, _entry(end))


def decode(data: bytes) -> list[Offset]:
    """The entries of the file that are whole."""
    entries = _ENTRY.iter_unpack(data[: len(data) // _ENTRY.size * _ENTRY.size])
    return [Offset(offset) for offset, crc in entries if offset >= 0 and crc32c(_OFFSET.pack(offset)) == crc]


def _entry(offset: Offset) -> bytes:
    return _ENTRY.pack(offset, crc32c(_OFFSET.pack(offset)))
