"""Files caught in transition by a crash: finished, or taken back, before a log is opened.

    .deleted   the segment was given up: removed
    .cleaned   compaction was writing it: removed, and what it was made from still stands
    .swap      compaction was done and the segment about to take its place: it takes it now,
               and the segments it was made from, as many as are left, are removed

A compaction renames its files from .cleaned to .swap with the lowest base offset last. So a .swap
at or above a .cleaned belongs to one that did not get as far as counting, and is removed with it.

Every step here can be interrupted and begun again.
"""

from __future__ import annotations

from andiron.log import layout
from andiron.log.disk import Disk
from andiron.log.layout import FileName
from andiron.log.segment import Segment
from andiron.log.settings import LogSettings
from andiron.model.errors import ProtocolError

_STATES = (layout.DELETED, layout.CLEANED, layout.SWAP)


def finish(
    disk: Disk, directory: str, sizes: dict[str, int], settings: LogSettings, notices: list[str]
) -> dict[str, int]:
    """Leave no file in transition; `sizes` is the directory's listing, and the answer is the new one."""
    if not any(name.endswith(_STATES) for name in sizes):
        return sizes
    moving = [file for file in map(layout.parse_file_name, sizes) if file is not None and file.state]
    cleaned = min((file.base for file in moving if file.state == layout.CLEANED), default=None)
    swaps = [
        file for file in moving if file.state == layout.SWAP and (cleaned is None or file.base < cleaned)
    ]
    for file in moving:
        if file not in swaps:
            disk.remove(f"{directory}/{file}")
    if swaps:
        _complete(disk, directory, swaps, settings, notices)
    return disk.names(directory)


def _complete(
    disk: Disk, directory: str, swaps: list[FileName], settings: LogSettings, notices: list[str]
) -> None:
    replaced = [_offsets(disk, directory, file.base, settings) for file in swaps if file.kind == layout.LOG]
    if replaced:
        low, high = min(offsets.start for offsets in replaced), max(offsets.stop for offsets in replaced)
        for name in disk.names(directory):
            file = layout.parse_file_name(name)
            is_live = file is not None and not file.state and file.kind in layout.SEGMENT_FILES
            if file is not None and is_live and low <= file.base < high:
                disk.remove(f"{directory}/{name}")
    for file in swaps:
        notices.append(f"{directory}/{file} put in its place: compaction was about to")
        disk.rename(f"{directory}/{file}", f"{directory}/{file._replace(state='')}")


def _offsets(disk: Disk, directory: str, base: int, settings: LogSettings) -> range:
    """From the base of a compacted segment to after its last batch."""
    end = base
    try:
        for _, batch in Segment.open(disk, directory, base, settings, state=layout.SWAP).headers():
            end = batch.next_offset
    except ProtocolError:
        pass  # recovery will look at it closely; what it replaces reaches at least this far
    return range(base, end)
