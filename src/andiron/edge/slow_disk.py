"""A disk that can be made slow while its node runs, to see what a saturated disk does to a cluster.

    FILE says 20000 ──▶ appends and fsyncs wait as a disk of 20,000 bytes a second would have them wait
    FILE is gone    ──▶ as quick as the disk is

The bytes are those that are appended to logs. An append waits in the loop's thread, as a write does whose pages the
system will not take before others are written back, and so everything else in the node waits with it. No wait is
longer than a second, so that the node stays one that is slow and is not taken for dead.

The metadata log is spared where it lies in a folder of its own, as on a machine with a disk for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from andiron.edge.disk import PosixDisk, PosixFile, sync_data
from andiron.log.disk import Buffer

LOOK_S = 0.05  # between looks at the file
WAIT_S_MAX = 1.0


class SlowFile(PosixFile):
    """A file whose appends are counted."""

    __slots__ = ()
    _disk: SlowDisk

    def append(self, data: Buffer) -> None:
        super().append(data)
        if self._disk.slows(self.path):
            self._disk.spend(len(data))


class SlowDisk(PosixDisk):
    """A PosixDisk with a brake."""

    file_type = SlowFile

    def __init__(
        self,
        brake: str,
        spared: str,
        descriptors: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`brake` is the file with the rate; what is below `spared` is never slow."""
        super().__init__(descriptors)
        self._brake, self._spared = brake, spared + "/"
        self._sleep, self._clock = sleep, clock
        self._rate: float | None = None
        self._looked_at = float("-inf")
        self._due = 0.0  # when everything spent so far is paid for

    def slows(self, path: str) -> bool:
        """Whether a file is on the disk that may be slow."""
        return not path.startswith(self._spared)

    def spend(self, count: int) -> None:
        """Wait as long as `count` bytes take."""
        now = self._clock()
        rate = self._current_rate(now)
        if rate is not None:
            self._due = max(self._due, now) + count / rate
            self._due = min(self._due, now + WAIT_S_MAX)
            self.times.writes.histogram.add(self._due - now)
            self._sleep(self._due - now)

    def sync(self, fd: int) -> None:
        """An fsync waits for what is being written back."""
        now = self._clock()
        if self._current_rate(now) is not None and self._due > now:
            self._sleep(self._due - now)
        sync_data(fd)

    def _current_rate(self, now: float) -> float | None:
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            self._rate = _read_rate(self._brake)
        return self._rate


def _read_rate(path: str) -> float | None:
    """Bytes a second; None if nothing is said, or nothing that is a rate."""
    try:
        with open(path, encoding="ascii") as file:
            rate = float(file.read())
    except (FileNotFoundError, ValueError):
        return None
    return rate if rate > 0 else None


def set_rate(path: str, bytes_per_second: float | None) -> None:
    """Say how slow a disk is from now on; None: as quick as it is."""
    if bytes_per_second is not None:
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(str(bytes_per_second))
        os.replace(path + ".new", path)
    elif os.path.exists(path):
        os.remove(path)
