"""Spark as a run has it: started with its own noise in a file, its batches heard as they end.

What the JVM and its workers print goes to <data>/<name>/spark.log, and so does what is logged in this process: the
terminal is for the run.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.reasons import reason
from andiron.spark.runtime.gateway import end
from andiron.spark.runtime.java import NoJava
from andiron.spark.runtime.session import session

DESCRIPTORS = (1, 2)
GONE = (Py4JError, ConnectionError)  # what calls raise when Spark's process is no more


def start_spark(app: str, master: str | None, conf: Mapping[str, str], log: str) -> SparkSession:
    """A session; whatever keeps it from starting is told in a line."""
    logging.basicConfig(filename=log, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        with _printing_to(log):
            return session(app, master, **conf)
    except NoJava as error:
        raise PipelineError(str(error)) from error
    except Exception as error:
        raise PipelineError(f"Spark did not start: {reason(str(error))}; {log} has the rest") from error


def stop_spark(spark: SparkSession) -> None:
    """End the session and its JVM, unless they have ended by themselves."""
    with contextlib.suppress(*GONE):
        spark.stop()
    with contextlib.suppress(*GONE):
        end()


class Ear(StreamingQueryListener):
    """Hears of every batch; `told` is emptied by whoever reads it."""

    def __init__(self) -> None:
        self.told: deque[dict[str, Any]] = deque()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to be told yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A batch is done."""
        self.told.append(json.loads(event.progress.json))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Silence says the same."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """The query itself tells why."""


@contextlib.contextmanager
def _printing_to(path: str) -> Iterator[None]:
    """Have processes that are started meanwhile print to a file."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(each) for each in DESCRIPTORS]
    with open(path, "ab") as file:
        for each in DESCRIPTORS:
            os.dup2(file.fileno(), each)
    try:
        yield
    finally:
        for each, before in zip(DESCRIPTORS, kept, strict=True):
            os.dup2(before, each)
            os.close(before)
