"""A Spark session that is ready for the machine it starts on, and for the connector.

    who decides a setting, the first wins

    session(**{"spark.…": …})  ─▶  spark-submit --conf, spark-defaults.conf  ─▶  the defaults below

The master is the argument's, else spark-submit's, else $SPARK_MASTER's, else this machine with all its
cores. Where a session runs already, as in a shell or on a hosted platform, it is taken as it is and only
what the caller names is set on it.

The law that is easy to break: Spark looks for `format("andiron")` in a Python that it starts by itself, so
that Python must be one that has Andiron. On this machine it is the one that runs this; on a cluster's
machines Andiron comes with the session (shipping.py).

Every thread of a driver can write to `format("andiron")`, not only the one that started Spark:

    a thread of Python ─▶ a thread of the JVM, of its own ─▶ the session that is active on that thread
                                                               └─▶ the data sources that Python has

Spark looks a source that is written in Python up in the active session alone: without one, its name is unknown, and the
error is DATA_SOURCE_NOT_FOUND, as if nothing were installed. The thread that starts Spark has an active session, and no
other has. Reads and SQL make the session of their DataFrame active while they are planned; a stream's `start` and a
batch's `save` do not, so here they do. Under Spark Connect the server does so for every request.

Read next: java.py, jvm.py, shipping.py.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrameWriter, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from andiron.spark.runtime.class_data import OPTIONS, with_archive
from andiron.spark.runtime.java import use_java
from andiron.spark.runtime.jvm import is_remote, launch_jvm
from andiron.spark.runtime.machine_memory import memory_bytes
from andiron.spark.runtime.python_executable import preloaded_python
from andiron.spark.runtime.shipping import PATH_OF_WHAT_IS_SHIPPED, archive

Value = str | int | float | bool

GIB = 1 << 30
STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CLUSTER_SHUFFLE_PARTITIONS = 16
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # spark-submit started the JVM, and then this Python
SHIP, PRELOAD = "spark.andiron.ship", "spark.andiron.preload"
ARCHIVES, EXECUTOR_PATH = "spark.archives", "spark.executorEnv.PYTHONPATH"
WRITES: tuple[tuple[Any, str], ...] = ((DataStreamWriter, "start"), (DataFrameWriter, "save"))

# A line of a properties file: the name ends where the first space, colon or equals sign is.
_PROPERTY = re.compile(r"(?P<name>spark\.[^\s:=]+)(?:\s*[:=]\s*|\s+)(?P<value>\S.*)")

# What a stream from a log wants and Spark does not do by itself.
DEFAULTS: dict[str, Value] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # other readers need no guess
    "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": True,
    "spark.sql.execution.arrow.pyspark.enabled": True,
    "spark.python.unix.domain.socket.enabled": True,  # TCP makes a small task wait for acknowledgements
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
    "spark.log.level": "ERROR",
}


def session(app: str = "andiron", master: str | None = None, **conf: Value) -> SparkSession:
    """A session, started if none runs; `conf` by Spark's names, e.g. **{"spark.ui.enabled": True}."""
    wanted = {name: _text(value) for name, value in conf.items()}
    for name in wanted:
        if not name.startswith("spark."):
            raise TypeError(f"settings have Spark's names, and {name!r} does not begin with 'spark.'")
    running = _running()
    if running is None:
        return start_session(app, master, wanted)
    write_from_every_thread()
    for name, value in wanted.items():
        running.conf.set(name, value)
    return running


def start_session(
    app: str, master: str | None, wanted: Mapping[str, str], log: str | None = None
) -> SparkSession:
    """A new session; a JVM that is started for it prints to the log, if there is one to be."""
    chosen = {**chosen_elsewhere(os.environ), **wanted}
    url = master or chosen.get("spark.master") or os.environ.get("SPARK_MASTER") or "local[*]"
    missing = {name: _text(value) for name, value in defaults(url).items() if name not in chosen}
    settings = {**missing, **wanted, "spark.master": url, "spark.app.name": app}
    if not is_local(url) and chosen.get(SHIP, "true") == "true":
        settings |= shipped(chosen)
    set_environment(url, chosen, os.environ)
    if SUBMITTED not in os.environ and not is_remote(settings, os.environ):
        options = with_archive(chosen.get(OPTIONS, ""), os.environ["JAVA_HOME"])
        launch_jvm(settings | ({OPTIONS: options} if options else {}), log)
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    write_from_every_thread()
    return builder.getOrCreate()


def _running() -> SparkSession | None:
    """This thread's session, or else the process's; one whose Spark was stopped is none."""
    try:
        found = SparkSession.active()
    except PySparkRuntimeError:
        return None
    stopped = isinstance(found, SparkSession) and found._sc._jsc is None
    return None if stopped else found


def is_local(master: str) -> bool:
    """Whether driver and executors are on this machine."""
    return master.startswith("local")


def defaults(master: str) -> dict[str, Value]:
    """The defaults of Spark's settings."""
    if not is_local(master):
        return {**DEFAULTS, "spark.sql.shuffle.partitions": CLUSTER_SHUFFLE_PARTITIONS}
    # In local mode the driver's memory is all there is, and Python and RocksDB need as much again beside it.
    heap = min(max(memory_bytes() // 8, GIB), 4 * GIB)
    local: dict[str, Value] = {
        "spark.driver.memory": f"{heap >> 20}m",
        "spark.sql.shuffle.partitions": max(2, os.cpu_count() or 2),
    }
    return DEFAULTS | local


def chosen_elsewhere(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of spark-submit, or else of the installation's spark-defaults.conf."""
    if SUBMITTED in environ:
        SparkContext._ensure_initialized()  # else the settings are those of no JVM
        return dict(SparkConf().getAll())
    folder = environ.get("SPARK_CONF_DIR") or os.path.join(environ.get("SPARK_HOME", ""), "conf")
    try:
        with open(os.path.join(folder, "spark-defaults.conf"), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return {}
    rows = [_PROPERTY.fullmatch(line) for line in lines]
    return {row["name"]: row["value"] for row in rows if row}


def set_environment(master: str, chosen: Mapping[str, str], environ: MutableMapping[str, str]) -> None:
    """Which Java and which Python Spark starts, and under which address it is reached."""
    if SUBMITTED not in environ:
        use_java(environ)
    here = sys.executable
    if chosen.get(PRELOAD, "true") == "true":
        here = preloaded_python(environ)
    # Who plans reads and commits writes is the driver's Python to Spark, and who computes is the executors'.
    environ["PYSPARK_DRIVER_PYTHON"] = chosen.get("spark.pyspark.driver.python", here)
    python = chosen.get("spark.pyspark.python")
    if is_local(master):
        environ["PYSPARK_PYTHON"] = python or here
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    elif python is not None:
        environ["PYSPARK_PYTHON"] = python
    else:
        environ.setdefault("PYSPARK_PYTHON", sys.executable)


def shipped(chosen: Mapping[str, str]) -> dict[str, str]:
    """The settings that bring Andiron to the executors, beside what else they are given."""
    archives = [part for part in (chosen.get(ARCHIVES), archive()) if part]
    paths = [PATH_OF_WHAT_IS_SHIPPED, *filter(None, [chosen.get(EXECUTOR_PATH)])]
    return {ARCHIVES: ",".join(archives), EXECUTOR_PATH: ":".join(paths)}


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# ── the active session of a thread ───────────────────────────────────────────────────


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
