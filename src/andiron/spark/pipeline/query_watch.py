"""The queries of a run, watched from the first one's start until there is a reason to stop.

    Spark ─▶ ProgressListener ─┐
    queries ─────────┼─▶ Watch ─▶ a line a query on the screen, and the file that other terminals read
    results, sample ─┘     └─▶ a failure, in one line

What a query tells of its batches comes by itself and a little late; when all is over the queries are asked
themselves.

Read next: query_progress.py for the numbers, stop_request.py for the end.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.failure_reason import failure_reason
from andiron.spark.pipeline.query_progress import FAILED, STARTING, STOPPED, QueryProgress, progress_line
from andiron.spark.pipeline.query_starter import QueryStarter
from andiron.spark.pipeline.screen import Screen
from andiron.spark.pipeline.stop_request import StopRequest, stop_between_batches

LOOK_EVERY_S = 0.5
PATIENCE_S = 120.0  # for a batch that is to be finished


class ProgressListener(StreamingQueryListener):
    """Spark tells it of every batch; `reports` is emptied by whoever reads it."""

    def __init__(self) -> None:
        self.reports: deque[dict[str, Any]] = deque()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """A query that starts has no batch to report yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A batch is done: keep its progress, as Spark's JSON."""
        self.reports.append(json.loads(event.progress.json))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """An idle query is known by its silence (query_progress.py)."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Why a query ended is asked of the query itself."""


class QueryWatch:
    """The queries of a run; `note` is told how they are whenever they were looked at."""

    def __init__(
        self,
        spark: SparkSession,
        launch: QueryStarter,
        screen: Screen,
        note: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        self._spark = spark
        self._launch = launch
        self._screen = screen
        self._note = note
        self._listener = ProgressListener()
        self._progress: dict[str, QueryProgress] = {}
        spark.streams.addListener(self._listener)

    def until_over(self, stop: StopRequest, beside: Callable[[], Sequence[str]]) -> None:
        """Show the queries' progress until somebody asks to stop, all have ended, or one has failed.

        `beside` is called as often as they are looked at; what it returns is printed.
        """
        while self._launch.is_alive() or any(query.isActive for query in self._queries()):
            if stop.wait(LOOK_EVERY_S):
                break
            self._look()
            for told in beside():
                self._screen.say(told)
            self._check()
        self._check()
        self._look()

    def finish(self) -> None:
        """Stop the queries between two batches."""
        interrupted = stop_between_batches(self._queries(), PATIENCE_S)
        self._check()
        for query in interrupted:
            self._screen.say(
                f"{query.name} took too long and was interrupted; the next run does that batch again"
            )
        self._hear_last()
        for progress in self._progress.values():
            progress.state = STOPPED
        self._tell()

    def _queries(self) -> Sequence[StreamingQuery]:
        """Those that are started; all of them when the job says so."""
        started = self._launch.queries
        found = self._spark.streams.active if started is None else started
        for query in found:
            progress = self._progress.setdefault(str(query.id), QueryProgress(query.name or str(query.id)))
            if progress.state == STARTING:
                progress.doing = query.status.get("message", "")
        return found

    def _look(self) -> None:
        now_s = time.monotonic()
        self._queries()
        self._hear(now_s)
        for progress in self._progress.values():
            progress.pass_time(now_s)
        self._screen.show([progress_line(each.as_json()) for each in self._progress.values()], now_s)
        self._tell()

    def _tell(self) -> None:
        self._note([each.as_json() for each in self._progress.values()])

    def _hear(self, now_s: float) -> None:
        while self._listener.reports:
            told = self._listener.reports.popleft()
            if told["id"] in self._progress:
                self._progress[told["id"]].hear(told, now_s)

    def _hear_last(self) -> None:
        """Ask the queries themselves: the listener may not have heard of a batch before all was over."""
        now_s = time.monotonic()
        self._hear(now_s)
        for query in self._queries():
            if (last := query.lastProgress) is not None:
                self._progress[str(query.id)].hear(json.loads(last.json), now_s)

    def _check(self) -> None:
        """Raise why the job did not start, or why a query failed; while it starts, it sees to that itself."""
        if self._launch.problem is not None:
            why = failure_reason(str(self._launch.problem))
            raise PipelineError(f"the job cannot be started: {why}") from self._launch.problem
        for query in self._launch.queries or ():
            problem = None if query.isActive else query.exception()
            if problem is not None:
                self._hear_last()
                self._progress[str(query.id)].state = FAILED
                self._tell()
                raise PipelineError(f"{query.name} failed: {failure_reason(str(problem))}")
