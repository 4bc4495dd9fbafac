"""A disk that takes its time: reads and appends of a job kept below a rate.

`log.cleaner.io.max.bytes.per.second` bounds what the cleaner takes of the disk, reads
and writes together. A job says its bound by an attribute `bytes_per_second_max`; it
cannot keep to it by itself, since below the edges there is no clock to sleep by.
"""

from __future__ import annotations

import math
import time

from andiron.edge.disk import PosixDisk, PosixFile
from andiron.log.disk import Buffer

_SLEEP_MIN = 0.05  # seconds: shorter debts are let run up, since sleeping is not exact


class PacedFile(PosixFile):
    """A file whose bytes are counted."""

    __slots__ = ()
    _disk: PacedDisk

    def append(self, data: Buffer) -> None:
        super().append(data)
        self._disk.spend(len(data))

    def read(self, position: int, length: int) -> bytes:
        data = super().read(position, length)
        self._disk.spend(len(data))
        return data


class PacedDisk(PosixDisk):
    """A PosixDisk that sleeps whenever it is ahead of its rate."""

    file_type = PacedFile

    def __init__(self, bytes_per_second_max: float = math.inf) -> None:
        super().__init__()
        self._bytes_per_second_max = bytes_per_second_max
        self._due = 0.0  # when everything spent so far is paid for

    def spend(self, count: int) -> None:
        """Account for `count` bytes read or written."""
        now = time.monotonic()
        self._due = max(self._due, now) + count / self._bytes_per_second_max
        if self._due - now > _SLEEP_MIN:
            time.sleep(self._due - now)
