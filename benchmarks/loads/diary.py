"""What a member of a group saw and when: a file that a kill -9 of the member leaves readable.

    entry    kind u8 · when f64 · count u32 · count × (partition u16 · offset u32)

One write an entry, so that what a member did before it was killed is there, whole. `when` is the system's
monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

BEGAN, SENT, SAW, ASSIGNED, REVOKED = range(5)
ENTRY = struct.Struct("<BdI")
PLACE = struct.Struct("<HI")


class Writer:
    """The member's side."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, kind: int, places: Iterable[tuple[int, int]] = ()) -> None:
        packed = [PLACE.pack(*place) for place in places]
        os.write(self._file, ENTRY.pack(kind, time.monotonic(), len(packed)) + b"".join(packed))


class Entry(NamedTuple):
    kind: int
    when: float
    packed: bytes

    def places(self) -> Iterator[tuple[int, int]]:
        """Partitions and offsets."""
        return PLACE.iter_unpack(self.packed)


class Reader:
    """The watcher's side: reads on from where it stopped."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self._at = 0

    def look(self) -> list[Entry]:
        """The entries that are new; `entries` has all."""
        if not os.path.exists(self.path):
            return []
        with open(self.path, "rb") as file:
            file.seek(self._at)
            data = file.read()
        new, at = [], 0
        while at + ENTRY.size <= len(data):
            kind, when, count = ENTRY.unpack_from(data, at)
            end = at + ENTRY.size + count * PLACE.size
            if end > len(data):
                break
            new.append(Entry(kind, when, data[at + ENTRY.size : end]))
            at = end
        self._at += at
        self.entries += new
        return new
