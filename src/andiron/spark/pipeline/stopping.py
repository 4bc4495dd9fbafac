"""Stopping: asked for once, a query finishes the batch it is at; asked for twice, everything ends at once.

Ctrl-C and SIGTERM ask the same. Spark's own way of stopping a query interrupts its batch. No record would be
lost by that, since the next start does the batch again, but the work would be. So each query is stopped when
it has no batch in hand.

The law: Spark puts a handler of its own on SIGINT when a session starts, and it cancels all jobs. Take the
signals after that, not before.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable
from types import FrameType

from pyspark.sql.streaming.query import StreamingQuery

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOOK_EVERY_S = 0.02


class Stop:
    """Whether somebody asked."""

    def __init__(self) -> None:
        self.asked = False

    def take_signals(self) -> None:
        """From now on signals ask here; may be said again after somebody else took them."""
        for number in SIGNALS:
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.asked = True

    def wait(self, seconds: float) -> bool:
        """Wait until somebody asks, or the time is over; whether somebody has."""
        until = time.monotonic() + seconds
        while not self.asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_EVERY_S * 5))
        return self.asked


def stop_between_batches(queries: Iterable[StreamingQuery], patience_s: float) -> list[StreamingQuery]:
    """Stop each query at the end of its batch; return those whose patience ran out and were interrupted."""
    at_work = {query: _batch(query) for query in queries if query.isActive}
    until = time.monotonic() + patience_s
    while at_work and time.monotonic() < until:
        for query, batch in list(at_work.items()):
            if not query.isActive or not query.status["isTriggerActive"] or _batch(query) != batch:
                query.stop()
                del at_work[query]
        time.sleep(LOOK_EVERY_S)
    for query in at_work:
        query.stop()
    return list(at_work)


def _batch(query: StreamingQuery) -> int:
    """The last batch that is done."""
    progress = query.lastProgress
    return -1 if progress is None else int(progress.batchId)
