"""fsync off the loop: many flushes waiting together cost one sync a file.

    loop     submit(1, a)  submit(2, a b)  submit(3, b)            completed() → [1, 2, 3]
    thread                 ───────────── sync a ── sync b ─▶ wake

The thread takes everything that waits as one round. Whatever was submitted before the
round began is covered by any sync made in it, so each file is synced once, and a flush
is complete as soon as its own files are, without waiting for the rest of the round.

A sync that fails is reported to every flush that counted on it, once: the kernel may
drop the pages it could not write and say nothing the second time, so the owner of the
file must not take a later success for the earlier bytes.

Read next: host.py, which turns what is completed into events.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from andiron.edge.disk import PosixFile, sync_data
from andiron.edge.metrics.meter import Histogram
from andiron.model.effects import Flushed


class _Submitted(NamedTuple):
    token: int
    descriptors: dict[PosixFile, int]  # duplicates, so that the disk may close its own meanwhile
    error: str | None


class Flusher:
    """One thread, started by the first flush."""

    def __init__(
        self,
        wake: Callable[[], None],
        sync: Callable[[int], None] | None = None,
        times: Histogram | None = None,
    ) -> None:
        """`wake` is called from the thread when there is something to collect; `sync` is how, if not as usual, and
        `times` is told how long each takes."""
        self._wake, self._own_sync, self._times = wake, sync, times or Histogram()
        self._waiting: queue.SimpleQueue[_Submitted | None] = queue.SimpleQueue()
        self._done: deque[Flushed] = deque()
        self._thread: threading.Thread | None = None

    def submit(self, token: int, files: Iterable[PosixFile]) -> None:
        """Bring `files` to the disk as they are now; `completed` will tell by `token`."""
        descriptors: dict[PosixFile, int] = {}
        error = None
        try:
            for file in files:
                if not file.gone and file not in descriptors:
                    descriptors[file] = os.dup(file.fd())
        except OSError as problem:
            error = str(problem)
        self._waiting.put(_Submitted(token, descriptors, error))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="flusher", daemon=True)
            self._thread.start()

    def completed(self) -> list[Flushed]:
        """What is done since the last call, in the order submitted."""
        done = []
        while self._done:
            done.append(self._done.popleft())
        return done

    def drain(self) -> None:
        """Wait until everything submitted is done; the thread ends. Collect with `completed`."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            submitted = [self._waiting.get()]
            while not self._waiting.empty():
                submitted.append(self._waiting.get())
            self._round([each for each in submitted if each is not None])
            if submitted[-1] is None:
                return

    def _round(self, submitted: list[_Submitted]) -> None:
        outcome: dict[PosixFile, str | None] = {}
        unannounced = False
        for token, descriptors, error in submitted:
            for file, fd in descriptors.items():
                if file not in outcome:
                    if unannounced:  # before the thread goes away for long again
                        self._wake()
                        unannounced = False
                    outcome[file] = self._sync(fd)
                error = error or outcome[file]
                os.close(fd)
            self._done.append(Flushed(token, error))
            unannounced = True
        if unannounced:
            self._wake()

    def _sync(self, fd: int) -> str | None:
        began = time.perf_counter()
        try:
            (self._own_sync or sync_data)(fd)
        except OSError as problem:
            return str(problem)
        self._times.add(time.perf_counter() - began)
        return None
