"""Removes files without the pause: the name at once, the blocks in a thread.

Giving a gigabyte back to the file system takes long enough to be felt by every client,
but it happens only when the last descriptor of a nameless file is closed. So a large
file is opened, its name unlinked, and the descriptor left to a thread to close. Nothing
is renamed to a waste bin on the way: a crash leaves no litter to clean up.
"""

from __future__ import annotations

import os
import queue
import stat
import threading

_LARGE = 1 << 20  # a smaller file is gone in no time
_WAITING_MAX = 256  # beyond this many descriptors the caller waits for its own blocks


class Reaper:
    """One thread that closes descriptors, started when first needed."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def remove(self, path: str) -> None:
        """Remove a file or a whole directory; one that is not there is fine."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(found.st_mode):
            self._remove_file(path, found)
            return
        with os.scandir(path) as entries:
            inside = [entry.path for entry in entries]
        for each in sorted(inside):
            self.remove(each)
        os.rmdir(path)

    def finish(self) -> None:
        """Wait until everything removed has been given back."""
        if self._thread is not None:
            self._waiting.put(-1)
            self._thread.join()
            self._thread = None

    def _remove_file(self, path: str, found: os.stat_result) -> None:
        if found.st_size < _LARGE or not stat.S_ISREG(found.st_mode) or self._waiting.qsize() >= _WAITING_MAX:
            os.unlink(path)
            return
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.unlink(path)
        finally:
            self._waiting.put(fd)
        if self._thread is None:
            self._thread = threading.Thread(target=self._close_all, name="reaper", daemon=True)
            self._thread.start()

    def _close_all(self) -> None:
        while (fd := self._waiting.get()) >= 0:
            os.close(fd)
