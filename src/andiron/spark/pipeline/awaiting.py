"""The end of a job that somebody runs himself: Ctrl-C or SIGTERM, and no stack of calls on the screen.

    query = spark.start_query(rows.writeStream…)
    spark.await_queries(query)            returns when all have ended, or somebody asked to stop and they have

Spark's own `awaitTermination` waits inside a call to Java. A signal that comes meanwhile breaks that call, which is
shown at length, and the batch at hand is cut off. Here the process waits in Python, and each query is stopped between
two of its batches, as `andiron pipeline` does it.

Read next: stopping.py.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

from pyspark.sql.streaming.query import StreamingQuery

from andiron.spark.pipeline.stopping import SIGNALS, Stop, stop_between_batches

LOOK_EVERY_S = 0.5
PATIENCE_S = 120.0  # for a batch that is to be finished


def await_queries(*queries: StreamingQuery, patience_s: float = PATIENCE_S) -> bool:
    """Wait until all queries have ended, one has failed, or somebody asks to stop; then none of them runs any more.

    Raises why one failed. Returns whether somebody asked. A batch that takes longer than the patience to be
    finished is interrupted, and done again by the next run.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    stop = Stop()
    stop.take_signals()
    try:
        while all(map(_is_well, queries)) and any(query.isActive for query in queries):
            if stop.wait(LOOK_EVERY_S):
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
