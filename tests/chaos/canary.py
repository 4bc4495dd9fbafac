"""Whether the machine's own disk works: a small file beside the nodes' data, synced again and again.

Where that takes seconds, no node can promise anything to anybody, whatever it is made of, and to lose patience with it
would tell of the machine alone. What it stood still for is told with the round, and waited for on top.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

EVERY_S = 0.1
SLOW_S = 1.0  # a sync that takes longer is one that stands still


class Canary(threading.Thread):
    """Syncs, and sums up for how long that stood still."""

    def __init__(self, folder: Path, sync: Callable[[int], None] = os.fsync) -> None:
        super().__init__(daemon=True)
        self._path, self._sync = folder / "canary", sync
        self._stood_s = 0.0
        self._began: float | None = None
        self._ends = threading.Event()

    @property
    def stood_s(self) -> float:
        """For how long the disk stood still until now, all in all."""
        began = self._began
        return self._stood_s + (0.0 if began is None else _beyond(time.monotonic() - began))

    def run(self) -> None:
        with open(self._path, "wb", buffering=0) as file:
            while not self._ends.wait(EVERY_S):
                file.write(b".")
                self._began = began = time.monotonic()
                self._sync(file.fileno())
                self._began = None
                self._stood_s += _beyond(time.monotonic() - began)

    def stop(self) -> None:
        self._ends.set()
        self.join()


def _beyond(seconds: float) -> float:
    return seconds if seconds > SLOW_S else 0.0
