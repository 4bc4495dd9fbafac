"""Sample data that flows in while a pipeline runs, at a rate or as fast as it goes.

    feed(settings, rate, total) of the job ──▶ send(n) … send(n), finish() ──▶ the topic

A thread of the run's own process paces it: what is due by the clock is sent five times a second. What goes
wrong in it is raised in the run, by `check`.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

CHUNK = 5_000
PACE_S = 0.2


class SampleFeed(Protocol):
    """A source of sample data: what a job's `feed` returns."""

    def send(self, count: int) -> None:
        """Write the next so many, and see that they are written."""

    def finish(self) -> None:
        """Write what belongs to the end, after the last."""

    def close(self) -> None:
        """Close the producer."""


class SampleFeeder(threading.Thread):
    """A thread that sends a job's sample data, at a rate, until all is sent or the run ends."""

    def __init__(self, feed: SampleFeed, rate: float | None, total: int | None) -> None:
        super().__init__(name="sample", daemon=True)
        self.sent = 0
        self._feed = feed
        self._rate = rate
        self._total = total
        self._over = threading.Event()
        self._problem: Exception | None = None

    def run(self) -> None:
        """Send until all is sent or somebody stops it."""
        try:
            self._send_all()
        except Exception as error:
            self._problem = error
        finally:
            self._feed.close()

    def check(self) -> None:
        """Raise what the thread failed with, if it has failed."""
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """Send no more; return when what is under way is written."""
        self._over.set()
        self.join()

    def _send_all(self) -> None:
        begun_s = time.monotonic()
        while not self._over.wait(PACE_S if self._rate else 0):
            due = self._due(time.monotonic() - begun_s)
            if due:
                self._feed.send(due)
                self.sent += due
            if self.sent == self._total:
                self._feed.finish()
                return

    def _due(self, elapsed_s: float) -> int:
        due = CHUNK if self._rate is None else int(elapsed_s * self._rate) - self.sent
        return due if self._total is None else min(due, self._total - self.sent)
