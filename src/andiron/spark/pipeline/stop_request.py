"""A request to stop: asked for once, a query finishes the batch it is at; asked for twice, everything ends at once.

    query = spark.start_query(rows.writeStream…)
    spark.await_queries(query)            returns when all have ended, or somebody asked to stop and they have

Ctrl-C and SIGTERM ask the same. Spark's own way of stopping a query interrupts its batch. No record would be
lost by that, since the next start does the batch again, but the work would be. So each query is stopped when
it has no batch in hand.

Spark's own `awaitTermination` waits inside a call to Java. A signal that comes meanwhile breaks that call, which is
shown at length, and the batch at hand is cut off. `await_queries`, for a job that somebody runs himself, waits in
Python, and stops each query between two of its batches, as `andiron pipeline` does it.

The law: Spark puts a handler of its own on SIGINT when a session starts, and it cancels all jobs. Take the
signals after that, not before.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Sequence
from types import FrameType

from pyspark.sql.streaming.query import StreamingQuery

SIGNALS = (signal.SIGINT, signal.SIGTERM)
BATCH_LOOK_S, QUERY_LOOK_S = 0.02, 0.5  # how often is asked whether a batch, or a query, has ended
PATIENCE_S = 120.0  # for a batch that is to be finished


class StopRequest:
    """Whether somebody has asked this process, by a signal, to stop its queries."""

    def __init__(self) -> None:
        self.asked = False

    def take_signals(self) -> None:
        """Have SIGINT and SIGTERM ask here from now on; may be called again after somebody else took them."""
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
            time.sleep(min(left, BATCH_LOOK_S * 5))
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
        time.sleep(BATCH_LOOK_S)
    for query in at_work:
        query.stop()
    return list(at_work)


def _batch(query: StreamingQuery) -> int:
    """The last batch that a query has finished; -1 before its first."""
    progress = query.lastProgress
    return -1 if progress is None else int(progress.batchId)


def await_queries(*queries: StreamingQuery, patience_s: float = PATIENCE_S) -> bool:
    """Wait until all queries have ended, one has failed, or somebody asks to stop; then none of them runs any more.

    Raises why one failed. Returns whether somebody asked. A batch that takes longer than the patience to be
    finished is interrupted, and done again by the next run.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    stop = StopRequest()
    stop.take_signals()
    try:
        while all(map(_is_well, queries)) and any(query.isActive for query in queries):
            if stop.wait(QUERY_LOOK_S):
                break
        stop_between_batches(queries, patience_s)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    _raise_failure(queries)
    return stop.asked


def _is_well(query: StreamingQuery) -> bool:
    return query.isActive or query.exception() is None


def _raise_failure(queries: Sequence[StreamingQuery]) -> None:
    for query in queries:
        problem = query.exception()
        if problem is not None:
            raise problem
