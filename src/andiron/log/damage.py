"""Damage in a log that has no gaps, the metadata log: where it is, and what is whole behind it.

    │ batch │ batch │ ✗ damaged │ batch │ batch │ batch │
    └── holds ──────┴ position, offset  └── whole, and lost if the log is cut at the damage

Recovery (recovery.py) ends a log at the first batch that does not hold, which is right for what was never flushed: a
power loss leaves it torn. What had been flushed does not tear. If it does not hold a disk or a copy has damaged it,
and whoever then cuts the log throws away what is whole behind it. So that is looked at first, and nothing is changed.

A length may be what is damaged, so batches behind it are searched for byte by byte: a batch is one if its checksum
holds and its offset is beyond.

Read next: flushed_mark.py for what had been flushed, mending.py for what can be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from andiron.log import layout, scan
from andiron.log.disk import Disk, File
from andiron.model.errors import ProtocolError
from andiron.model.ids import Offset
from andiron.records.batch import HEADER_SIZE, MAGIC, Batch

_MAGIC_AT = 16
_MAGIC_BYTE = bytes([MAGIC])


class Damage(NamedTuple):
    """The first place where a log does not hold: a segment, the byte in it, the offset that should come there."""

    path: str
    position: int
    offset: Offset
    reason: str
    behind: list[Batch]  # whole, in the order of their offsets

    @property
    def reach(self) -> Offset:
        """Where what is whole behind it ends."""
        return Offset(self.behind[-1].next_offset) if self.behind else self.offset

    @property
    def records(self) -> int:
        """How many records are whole behind it."""
        return sum(batch.count for batch in self.behind)


def find_damage(disk: Disk, directory: str, expected: Offset = Offset(0)) -> Damage | None:
    """The first damage of the log in `directory`, if it has any; that it ends before `expected` is one."""
    paths = segments(disk, directory)
    end, epoch = -1, -1
    for number, (base, path) in enumerate(paths):
        file = disk.open(path)
        position, trouble = 0, None
        if end >= 0 and base != end:
            trouble = f"it should begin at offset {end}, where the one before it ends"
        else:
            end = base
            try:
                for batch in scan.batches(file, 0, file.size):
                    trouble = _trouble(batch, end, epoch)
                    if trouble is not None:
                        break
                    position, end, epoch = (
                        position + batch.size,
                        batch.next_offset,
                        max(epoch, batch.leader_epoch),
                    )
            except ProtocolError as error:
                trouble = error.detail
        if trouble is not None:
            later = [path for _, path in paths[number + 1 :]]
            beyond = position + (end == base or position > 0)  # a segment that merely comes too late is whole
            return Damage(path, position, Offset(end), trouble, list(_behind(disk, file, beyond, later, end)))
        file.close()
    if max(end, 0) < expected:
        path, size = (paths[-1][1], disk.open(paths[-1][1]).size) if paths else (directory, 0)
        return Damage(
            path, size, Offset(max(end, 0)), f"it ends there, and had records up to {expected - 1}", []
        )
    return None


def segments(disk: Disk, directory: str) -> list[tuple[int, str]]:
    """The .log files of a folder by their base offsets."""
    files = [file for file in map(layout.parse_file_name, disk.names(directory)) if file is not None]
    bases = sorted(file.base for file in files if file.kind == layout.LOG and not file.state)
    return [(base, f"{directory}/{layout.file_name(base, layout.LOG)}") for base in bases]


def _trouble(batch: Batch, end: int, epoch: int) -> str | None:
    if not batch.is_intact():
        return f"the batch of offset {end} fails its checksum"
    if batch.base_offset != end or batch.last_offset_delta < 0:
        return f"a batch of offsets {batch.base_offset} to {batch.last_offset}, where {end} should come"
    if 0 <= batch.leader_epoch < epoch:
        return f"a batch of epoch {batch.leader_epoch} after one of epoch {epoch}"
    return None


def _behind(disk: Disk, file: File, position: int, later: list[str], end: int) -> Iterator[Batch]:
    for whole in _whole(file.read(position, file.size - position), end):
        end = whole.next_offset
        yield whole
    file.close()
    for path in later:
        following = disk.open(path)
        for whole in _whole(following.read(0, following.size), end):
            end = whole.next_offset
            yield whole
        following.close()


def _whole(data: bytes, end: int) -> Iterator[Batch]:
    """The batches in `data` that hold and come after `end`, wherever they begin."""
    at = 0
    while at + HEADER_SIZE <= len(data):
        batch = _batch_at(data, at)
        if (
            batch is not None
            and batch.base_offset > end - 1
            and batch.last_offset_delta >= 0
            and batch.is_intact()
        ):
            yield batch
            at, end = at + batch.size, batch.next_offset
            continue
        magic = data.find(_MAGIC_BYTE, at + _MAGIC_AT + 1)
        if magic < 0:
            return
        at = magic - _MAGIC_AT


def _batch_at(data: bytes, at: int) -> Batch | None:
    try:
        batch = Batch(data, at)
    except ProtocolError:
        return None
    return batch if batch.magic == MAGIC and at + batch.size <= len(data) else None
