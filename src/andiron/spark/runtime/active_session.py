"""Every thread of a driver can write to `format("andiron")`, not only the one that started Spark.

    a thread of Python ─▶ a thread of the JVM, of its own ─▶ the session that is active on that thread
                                                               └─▶ the data sources that Python has

Spark looks a source that is written in Python up in the active session alone: without one, its name is unknown, and the
error is DATA_SOURCE_NOT_FOUND, as if nothing were installed. The thread that starts Spark has an active session, and no
other has. Reads and SQL make the session of their DataFrame active while they are planned; a stream's `start` and a
batch's `save` do not, so here they do. Under Spark Connect the server does so for every request.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrameWriter, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

WRITES: tuple[tuple[Any, str], ...] = ((DataStreamWriter, "start"), (DataFrameWriter, "save"))


def write_from_every_thread() -> None:
    """Have PySpark's writers find sources in Python from whichever thread of this process; may be said again."""
    for writer, name in WRITES:
        method = getattr(writer, name)
        if not hasattr(method, "__wrapped__"):
            setattr(writer, name, _in_its_session(method))


def _in_its_session(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def within(writer: Any, *args: Any, **options: Any) -> Any:
        with _active(writer._spark):
            return method(writer, *args, **options)

    return within


@contextlib.contextmanager
def _active(session: SparkSession) -> Iterator[None]:
    """A classic session is the active one of this thread; afterwards whichever was is."""
    sessions: Any = getattr(session._jvm, "org.apache.spark.sql.classic.SparkSession")
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
