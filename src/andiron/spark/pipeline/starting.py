"""Queries are started one after another, each when the one before it is under way.

    start ─▶ first trigger done ─▶ the next one's start ─▶ …
      └─▶ failed, because its Python was late ─▶ again

A job's `start` runs in a thread of its own, so that the first query's results can be seen while the last one starts.

Spark runs a query's source in a Python process of its own and gives that ten seconds to answer, with no setting to
change it. A machine that starts three queries on two cores, or is busy otherwise, may not manage that; nothing is
wrong then, and a second attempt finds the files in memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

ATTEMPTS = 6
PATIENCE_S = 90.0
LOOK_EVERY_S = 0.05
LATE = "Python worker failed to connect back"


def start_query(writer: DataStreamWriter, patience_s: float = PATIENCE_S) -> StreamingQuery:
    """Start a query; return when its first trigger is done, it has failed for a reason of its own, or time is up."""
    query = writer.start()
    for _ in range(ATTEMPTS - 1):
        _settle(query, patience_s)
        problem = None if query.isActive else query.exception()
        if problem is None or LATE not in str(problem):
            return query
        query = writer.start()
    return query


def _settle(query: StreamingQuery, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while query.isActive and time.monotonic() < until:
        if query.lastProgress is not None or query.status["message"].startswith("Waiting"):
            return
        time.sleep(LOOK_EVERY_S)


class Launch(threading.Thread):
    """A job that is starting its queries, or has."""

    def __init__(self, start: Callable[[], list[StreamingQuery]]) -> None:
        super().__init__(name="launch", daemon=True)
        self.queries: list[StreamingQuery] | None = None  # when all are started
        self.problem: Exception | None = None
        self._start_job = start

    def run(self) -> None:
        """Start them."""
        try:
            self.queries = self._start_job()
        except Exception as error:
            self.problem = error
