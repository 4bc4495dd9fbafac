"""Spark's session for a run: started in a thread while other things are done, what it prints in a file.

What the JVM and its workers print goes to <data>/<name>/spark.log, and so does what is logged in this process: the
terminal is for the run.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Mapping

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.failure_reason import failure_reason
from andiron.spark.runtime.java import NoJava
from andiron.spark.runtime.jvm import end_jvm
from andiron.spark.runtime.session import start_session

GONE = (Py4JError, ConnectionError)  # what calls raise when Spark's process is no more


def start_spark(app: str, master: str | None, conf: Mapping[str, str], log: str) -> SparkSession:
    """A session; whatever keeps it from starting is told in a line."""
    logging.basicConfig(filename=log, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        return start_session(app, master, conf, log)
    except NoJava as error:
        raise PipelineError(str(error)) from error
    except Exception as error:
        raise PipelineError(
            f"Spark did not start: {failure_reason(str(error))}; {log} has the rest"
        ) from error


def stop_spark(spark: SparkSession) -> None:
    """End the session and its JVM, unless they have ended by themselves: that is told elsewhere, and once."""
    with contextlib.suppress(*GONE), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        spark.stop()
    with contextlib.suppress(*GONE):
        end_jvm()


class SessionStarter(threading.Thread):
    """A thread that starts a Spark session; whoever needs the session waits for it."""

    def __init__(self, app: str, master: str | None, conf: Mapping[str, str], log: str) -> None:
        super().__init__(name="starting Spark", daemon=True)
        self._wanted = app, master, conf, log
        self._session: SparkSession | None = None
        self._problem: Exception | None = None
        self._is_wanted = True

    def run(self) -> None:
        """Start the session, and stop it again if nobody wants it any more."""
        try:
            self._session = start_spark(*self._wanted)
        except Exception as error:
            self._problem = error
        if self._session is not None and not self._is_wanted:
            stop_spark(self._session)

    def session(self) -> SparkSession:
        """The session, or what kept it from starting."""
        self.join()
        if self._session is None:
            raise self._problem or PipelineError("Spark did not start")
        return self._session

    def give_up(self) -> None:
        """Nobody will ask for the session; who has it already is to stop it."""
        self._is_wanted = False
