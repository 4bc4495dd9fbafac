"""Queries are made and started side by side, as many at a time as there are cores, and each is seen under way.

    make ─▶ start ─▶ first trigger done ──┐
    make ─▶ start ─▶ first trigger done ──┴─▶ all are given back
              └─▶ failed, or raised, because its Python was late ─▶ again

A job's `start` runs in a thread of its own, so that the first query's results can be seen while the last one starts;
runtime/session.py is why it may write to topics from there.

Spark runs a query's source in a Python process of its own and gives that ten seconds to answer, with no setting to
change it. A machine that starts three queries on two cores, or is busy otherwise, may not manage that; nothing is
wrong then, and a second attempt finds the files in memory. Under Spark Connect a writer's plan is made when it is
started, so there the start itself may raise it; a classic session finds out while the query runs.

The first query has Spark to itself until its first trigger is done. Spark makes some of what all queries share when it
is first wanted, and not for several threads: of queries that were first at the same moment all failed now and then, and
went on failing in that process ("Task not serializable … Illegal size 5 of collection, expected 6").
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from andiron.spark.runtime.session import write_from_every_thread

ATTEMPTS = 6
PATIENCE_S = 90.0
TURN_S = 10.0  # a query whose first batch is long holds up the others this long, and no longer
LOOK_EVERY_S = 0.25
LATE = "Python worker failed to connect back"


def start_query(writer: DataStreamWriter, patience_s: float = PATIENCE_S) -> StreamingQuery:
    """Start a query; return when its first trigger is done, it has failed for a reason of its own, or time is up."""
    write_from_every_thread()
    attempts = _Attempts(writer)
    query = attempts.start()
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        if _was_late(query) and attempts.left:
            query = attempts.start()
        elif _is_settled(query):
            break
        else:
            time.sleep(LOOK_EVERY_S)
    return query


def start_queries(
    makers: Sequence[Callable[[], DataStreamWriter]], patience_s: float = PATIENCE_S
) -> list[StreamingQuery]:
    """Make queries and start them, the first by itself and the others side by side; return when each is under way.

    As many at a time as there are cores: the first results are there sooner than if all were under way at once.
    """
    turns = threading.Semaphore(os.cpu_count() or 1)
    first_is_done = threading.Event()

    def start(number: int) -> StreamingQuery:
        if number:
            first_is_done.wait(TURN_S)
        turns.acquire(timeout=TURN_S)
        try:
            return start_query(makers[number](), patience_s)
        finally:
            turns.release()
            first_is_done.set()

    with ThreadPoolExecutor(len(makers)) as pool:
        return list(pool.map(start, range(len(makers))))


class _Attempts:
    """The attempts at starting one query: `ATTEMPTS`, and no more."""

    def __init__(self, writer: DataStreamWriter) -> None:
        self._writer = writer
        self.left = ATTEMPTS

    def start(self) -> StreamingQuery:
        """Start it, again where the start itself says that Python was late."""
        while True:
            self.left -= 1
            try:
                return self._writer.start()
            except Exception as error:
                if LATE not in str(error) or not self.left:
                    raise


def _is_settled(query: StreamingQuery) -> bool:
    """Whether its first trigger is done, or it has ended."""
    return (
        not query.isActive or query.lastProgress is not None or query.status["message"].startswith("Waiting")
    )


def _was_late(query: StreamingQuery) -> bool:
    return not query.isActive and LATE in str(query.exception())


class QueryStarter(threading.Thread):
    """A thread in which a job starts its queries; `queries` has them when all are started."""

    def __init__(self, start: Callable[[], list[StreamingQuery]]) -> None:
        super().__init__(name="launch", daemon=True)
        self.queries: list[StreamingQuery] | None = None  # when all are started
        self.problem: Exception | None = None
        self._start_job = start

    def run(self) -> None:
        """Have the job start its queries; what kept it from that is kept for whoever watches."""
        try:
            self.queries = self._start_job()
        except Exception as error:
            self.problem = error
