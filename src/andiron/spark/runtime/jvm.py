"""The JVM under a session of this machine, started so that a signal to our process group passes it by.

    systemd, timeout, a terminal ──SIGTERM to the group──▶ Python: finish the batch, then stop Spark
                                                     └─╳─▶ JVM, in a session of its own

PySpark protects its JVM from Ctrl-C and from nothing else: a SIGTERM to the group (`timeout`, a shell that ends its
job, a supervisor) ends the JVM in the middle of a batch, before Python can let the batch finish. In a session of its
own the JVM hears of none of them. It does not outlive us either: it ends when the pipe to its standard input closes,
whichever way this process goes. `end_jvm` is for those who want to see it gone, with all that it writes at its end.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from typing import Any

import pyspark.java_gateway
from pyspark import SparkConf, SparkContext

REMOTE, API_MODE = "spark.remote", "spark.api.mode"
PATIENCE_S = 60.0
REMOTE_VARIABLES = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")


def launch_jvm(settings: Mapping[str, str], log: str | None = None) -> None:
    """Start the JVM that the next session of this process runs on, unless there is one.

    What it prints, and what its Python processes do, goes to the log; without one, where this process prints.
    """
    if SparkContext._gateway is None:
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        start: Any = pyspark.java_gateway.launch_gateway
        with contextlib.ExitStack() as stack:
            popen: dict[str, Any] = {"start_new_session": True}
            if log is not None:
                popen["stdout"] = popen["stderr"] = stack.enter_context(open(log, "ab"))
            gateway = start(conf, popen)
        SparkContext._ensure_initialized(gateway=gateway)


def end_jvm(patience_s: float = PATIENCE_S) -> None:
    """End the JVM that was started here, after its session was stopped, and wait until it has."""
    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)


def is_remote(settings: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether Spark Connect was asked for: then no JVM is ours to start."""
    named = settings.get(API_MODE, environ.get("SPARK_API_MODE", "")).lower()
    return REMOTE in settings or named == "connect" or any(name in environ for name in REMOTE_VARIABLES)
